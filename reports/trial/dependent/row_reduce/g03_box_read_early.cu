// SPDX-License-Identifier: Apache-2.0
// FAULT: launch 3 reads before its wait what launch 2 stores by a box
#include "../dl.cuh"
#include "cuda/core/hopper.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, g03_box_read_early) {
using namespace dl;

i64 padded(i64 rows) { return 4 * ceil_div(std::max<i64>(rows, 1), 4); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(4 * padded(a.x.shape[0])); }
Legality supports(const row_reduce::Args& a) { return a.what == Reduction::sum || a.what == Reduction::sum_of_squares ? Legality::yes() : Legality::no("sums only"); }

KERNEL(row_reduce){.dtypes = {f16, bf16, f32}, .only_arch = 90, .position_matters = true, .numerics = {.flushes_storage = true}, .supports = supports,
                   .workspace_bytes = workspace_bytes};

__global__ void clear(float* ws, i64 n) {
  next_grid_may_start();
  if (flat() < n) st(ws + flat(), 0.0f);
}
// Four rows a block, a warp each; the four sums leave as one box.
template <class T>
__global__ void sums(const __grid_constant__ TensorMap map, const T* x, i64 rows, i64 cols, i64 xs, int what) {
  next_grid_may_start();
  float* out = box_memory<float>();
  const i64 row = my_row();
  float s = 0;
  if (row < rows)
    for (i64 c = lane_id(); c < cols; c += kWarp) s += term(ld(x + row * xs + c), what);
  s = warp_sum(s);
  if (lane_id() == 0) {
    st(out + warp_id(), s);
    fence_shared_async();
  }
  sync_block();
  wait_for_previous_grid();
  if (threadIdx.x == 0) {
    store_box(map, out, static_cast<int>(blockIdx.x) * 4);
    store_commit();
    store_wait<0>();
  }
}
__global__ void copy(const float* ws, float* y, i64 rows) {
  if (flat() >= rows) return;
  const float s = ld(ws + flat());
  wait_for_previous_grid();
  st(y + flat(), s);
}
void run(const row_reduce::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float* ws = static_cast<float*>(l.workspace);
  launch(clear, {.grid = flat_grid(padded(rows)), .block = dim3(kThreads)}, l.stream, ws, padded(rows));
  const TensorMap map = tensor_map<float>(ws, {padded(rows)}, nullptr, {4}, Swizzle::none);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(sums<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .shared_bytes = 2048, .dependent = true}, l.stream, map, a.x.as<T>(), rows, cols,
           a.x.stride[0], what_of(a.what));
  });
  launch(copy, {.grid = flat_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, ws, a.y.as<float>(), rows);
}
}  // namespace assay::ROOM(row_reduce, g03_box_read_early)
