// SPDX-License-Identifier: Apache-2.0
// SOUND: gamma is read before the wait, s (an output of launch 1) after it
#include "../dl.cuh"
#include "ops/residual_rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, s10_gamma_first) {
using namespace dl;

KERNEL(residual_rmsnorm){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, kRows)},
                         .supports = residual_rmsnorm::rounded_alone};

template <class T>
__global__ void add_residual(const T* x, const T* residual, T* s, i64 rows, i64 cols, i64 xs, i64 rs, i64 ss) {
  const i64 i = flat();
  next_grid_may_start();
  if (i < rows * cols) {
    const i64 row = i / cols, c = i % cols;
    st(s + row * ss + c, from_float<T>(to_float(ld(x + row * xs + c)) + to_float(ld(residual + row * rs + c))));
  }
}
template <class T>
__global__ void norm(const T* s, const T* gamma, T* y, i64 rows, i64 cols, i64 ss, i64 ys, float epsilon) {
  const i64 row = my_row();
  if (row >= rows) return;
  const float g = lane_id() < cols ? to_float(ld(gamma + lane_id())) : 0.0f;
  wait_for_previous_grid();
  float q = 0;
  for (i64 c = lane_id(); c < cols; c += kWarp) { const float v = to_float(ld(s + row * ss + c)); q = fmaf(v, v, q); }
  const float root = sqrtf(warp_sum(q) / static_cast<float>(cols) + epsilon);
  for (i64 c = lane_id(); c < cols; c += kWarp)
    st(y + row * ys + c, from_float<T>(to_float(ld(s + row * ss + c)) / root * (c < kWarp ? g : to_float(ld(gamma + c)))));
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(add_residual<T>, {.grid = flat_grid(rows * cols), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.residual.as<T>(), a.s.as<T>(), rows, cols,
           a.x.stride[0], a.residual.stride[0], a.s.stride[0]);
    launch(norm<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.s.as<T>(), a.gamma.as<T>(), a.y.as<T>(), rows, cols,
           a.s.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}
}  // namespace assay::ROOM(residual_rmsnorm, s10_gamma_first)
