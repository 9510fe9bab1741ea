// SPDX-License-Identifier: Apache-2.0
// FAULT: the box of launch 1's roots is asked for before the wait
#include "../dl.cuh"
#include "cuda/core/hopper.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, f11_box_early) {
using namespace dl;

std::size_t workspace_bytes(const rmsnorm::Args& a) { return static_cast<std::size_t>(4 * kRows * ceil_div(std::max<i64>(a.x.shape[0], 1), kRows)); }

KERNEL(rmsnorm){.dtypes = {f16, bf16, f32}, .only_arch = 90, .tiles = {tile(Axis::rows, kRows)}, .workspace_bytes = workspace_bytes};

// The four roots of a block come as one box.
template <class T>
__global__ void scale(const __grid_constant__ TensorMap map, const T* x, const T* gamma, T* y, i64 rows, i64 cols, i64 xs, i64 ys) {
  float* roots = box_memory<float>();
  Barrier* full = box_memory<Barrier>(128);
  if (threadIdx.x == 0) {
    prefetch_map(map);
    barrier_init(full, 1);
    barriers_ready();
  }
  sync_block();
  if (threadIdx.x == 0) {
    barrier_arrive_expect(full, 4 * kRows);
    copy_box(roots, map, full, static_cast<int>(blockIdx.x) * kRows);
  }
  wait_for_previous_grid();
  barrier_wait(full, 0);
  const i64 row = my_row();
  if (row >= rows) return;
  const float r = ld(roots + warp_id());
  for (i64 c = lane_id(); c < cols; c += kWarp)
    st(y + row * ys + c, from_float<T>(to_float(ld(x + row * xs + c)) / r * to_float(ld(gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float* roots = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(inverse_roots<T, end>, {.grid = row_grid(rows), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), roots, rows, cols, a.x.stride[0],
           static_cast<float>(a.epsilon));
    const TensorMap map = tensor_map<float>(roots, {rows}, nullptr, {kRows}, Swizzle::none);
    launch(scale<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .shared_bytes = 2048, .dependent = true}, l.stream, map, a.x.as<T>(),
           a.gamma.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(rmsnorm, f11_box_early)
