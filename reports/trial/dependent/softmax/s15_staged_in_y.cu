// SPDX-License-Identifier: Apache-2.0
// SOUND: launch 1 stages in y, launch 2 waits and divides in place
#include "../dl.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, s15_staged_in_y) {
using namespace dl;

std::size_t workspace_bytes(const softmax::Args& a) { return two_a_row(a.x.shape[0]); }

KERNEL(softmax){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, kRows)}, .numerics = {.stores_intermediate = true},
                .workspace_bytes = workspace_bytes};

template <class T>
__global__ void exps(const T* x, T* y, float* sums, i64 rows, i64 cols, i64 xs, i64 ys) {  // y = exp(x - max)
  next_grid_may_start();
  const i64 row = my_row();
  if (row >= rows) return;
  float m = -INFINITY, s = 0;
  for (i64 c = lane_id(); c < cols; c += kWarp) m = fmaxf(m, to_float(ld(x + row * xs + c)));
  m = warp_max(m);
  for (i64 c = lane_id(); c < cols; c += kWarp) {
    const float e = expf(to_float(ld(x + row * xs + c)) - m);
    st(y + row * ys + c, from_float<T>(e));
    s += e;
  }
  s = warp_sum(s);
  if (lane_id() == 0) st(sums + row, s);
}

template <class T>
__global__ void divide(const T* x, T* y, const float* sums, i64 rows, i64 cols, i64 xs, i64 ys) {
  const i64 row = my_row();
  if (row >= rows) return;
  wait_for_previous_grid();
  const float s = ld(sums + row);
  for (i64 c = lane_id(); c < cols; c += kWarp) st(y + row * ys + c, from_float<T>(to_float(ld(y + row * ys + c)) / s));
}

void run(const softmax::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float* sums = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(exps<T>, {.grid = row_grid(rows), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.y.as<T>(), sums, rows, cols, a.x.stride[0], a.y.stride[0]);
    launch(divide<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), a.y.as<T>(), sums, rows, cols,
           a.x.stride[0], a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(softmax, s15_staged_in_y)
