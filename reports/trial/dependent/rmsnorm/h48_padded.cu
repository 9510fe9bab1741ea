// SPDX-License-Identifier: Apache-2.0
// FAULT: padded rows take a path without a wait
#include "../dl.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, h48_padded) {
using namespace dl;

std::size_t workspace_bytes(const rmsnorm::Args& a) { return two_a_row(a.x.shape[0]); }

KERNEL(rmsnorm){.dtypes = {f16, bf16, f32}, .min_arch = 90, .tiles = {tile(Axis::rows, kRows)}, .workspace_bytes = workspace_bytes};

template <class T>
__global__ void scale(const T* x, const T* gamma, const float* roots, T* y, i64 rows, i64 cols, i64 xs, i64 ys) {
  const i64 row = my_row();
  if (row >= rows) return;
  float v = 0, g = 0;
  if (lane_id() < cols) v = to_float(ld(x + row * xs + lane_id())), g = to_float(ld(gamma + lane_id()));
  if (xs == cols) wait_for_previous_grid();
  const float r = ld(roots + row);
  if (lane_id() < cols) st(y + row * ys + lane_id(), from_float<T>(v / r * g));
  for (i64 c = lane_id() + kWarp; c < cols; c += kWarp)
    st(y + row * ys + c, from_float<T>(to_float(ld(x + row * xs + c)) / r * to_float(ld(gamma + c))));
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const i64 rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  float* roots = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(inverse_roots<T, top>, {.grid = row_grid(rows), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), roots, rows, cols, a.x.stride[0],
           static_cast<float>(a.epsilon));
    launch(scale<T>, {.grid = row_grid(rows), .block = dim3(kThreads), .dependent = true}, l.stream, a.x.as<T>(), a.gamma.as<T>(), roots, a.y.as<T>(),
           rows, cols, a.x.stride[0], a.y.stride[0]);
  });
}
}  // namespace assay::ROOM(rmsnorm, h48_padded)
