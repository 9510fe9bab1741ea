// SPDX-License-Identifier: Apache-2.0
// FAULT: one launch, dependent on whatever came before the run; it sums the squares of x, an activation, ahead of the wait
#include "../dl.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, g11_activations_ahead) {
using namespace dl;

KERNEL(rmsnorm){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, kRows)}};

template <class T>
__global__ void norm(const T* x, const T* gamma, T* y, i64 rows, i64 cols, i64 xs, i64 ys, float epsilon) {
  next_grid_may_start();
  const i64 row = my_row();
  if (row >= rows) return;
  float q = 0;
  for (i64 c = lane_id(); c < cols; c += kWarp) { const float v = to_float(ld(x + row * xs + c)); q = fmaf(v, v, q); }
  const float root = sqrtf(warp_sum(q) / static_cast<float>(cols) + epsilon);
  wait_for_previous_grid();
  for (i64 c = lane_id(); c < cols; c += kWarp) st(y + row * ys + c, from_float<T>(to_float(ld(x + row * xs + c)) / root * to_float(ld(gamma + c))));
}
void run(const rmsnorm::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(norm<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), a.gamma.as<T>(), a.y.as<T>(), rows, cols,
           a.x.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}
}  // namespace assay::ROOM(rmsnorm, g11_activations_ahead)
