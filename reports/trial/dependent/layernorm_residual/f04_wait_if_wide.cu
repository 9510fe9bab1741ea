// SPDX-License-Identifier: Apache-2.0
// FAULT: the wait is under a condition on the size (cols >= 64)
#include "../dl.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, f04_wait_if_wide) {
using namespace dl;

std::size_t workspace_bytes(const layernorm_residual::Args& a) { return two_a_row(a.x.shape[0]); }

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, kRows)}, .workspace_bytes = workspace_bytes};

template <class T>
__global__ void find_roots(const T* x, const float* mean, float* roots, i64 rows, i64 cols, i64 xs, float epsilon) {
  if (cols >= 64) wait_for_previous_grid();
  const i64 row = my_row();
  if (row >= rows) return;
  const float r = root_of(x + row * xs, cols, ld(mean + row), epsilon);
  if (lane_id() == 0) st(roots + row, r);
}
template <class T>
__global__ void apply(const T* x, const T* residual, const T* gamma, const T* beta, const float* mean, const float* roots, T* y, i64 rows, i64 cols,
                      i64 xs, i64 rs, i64 ys) {
  wait_for_previous_grid();
  const i64 row = my_row();
  if (row >= rows) return;
  const float m = ld(mean + row), r = ld(roots + row);
  for (i64 c = lane_id(); c < cols; c += kWarp)
    st(y + row * ys + c, from_float<T>((to_float(ld(x + row * xs + c)) - m) / r * to_float(ld(gamma + c)) + to_float(ld(beta + c)) +
                                       to_float(ld(residual + row * rs + c))));
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float *mean = static_cast<float*>(l.workspace), *roots = mean + rows;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(means<T, top>, {.grid = row_grid(rows), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), mean, rows, cols, a.x.stride[0]);
    launch(find_roots<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), mean, roots, rows, cols,
           a.x.stride[0], static_cast<float>(a.epsilon));
    launch(apply<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(),
           a.beta.as<T>(), mean, roots, a.y.as<T>(), rows, cols, a.x.stride[0], a.residual.stride[0], a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(layernorm_residual, f04_wait_if_wide)
