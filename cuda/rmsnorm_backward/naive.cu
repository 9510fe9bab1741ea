// SPDX-License-Identifier: Apache-2.0
// One thread per row for dx, three serial passes, then one thread per column for dgamma, for any layout.
// The reciprocal root of each row goes through the workspace.
#include "cuda/core/kernel.cuh"
#include "ops/rmsnorm_backward.hpp"

namespace assay::ROOM(rmsnorm_backward, naive) {

inline constexpr int kThreads = 128;

KERNEL(rmsnorm_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
    .workspace_bytes = [](const rmsnorm_backward::Args& a) { return static_cast<std::size_t>(a.x.shape[0]) * sizeof(float); },
};

template <class T>
struct Matrices {
  const T *dy, *x, *gamma;
  T *dx, *dgamma;
  float* roots;  // [rows]
  std::int64_t rows, cols, dy_stride, x_stride, dx_stride;
  float epsilon;
};

template <class T>
__global__ void gradient_of_x(Matrices<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const dy = m.dy + row * m.dy_stride;
  T* const dx = m.dx + row * m.dx_stride;

  float squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  st(m.roots + row, r);

  float along = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) along += to_float(ld(dy + c)) * to_float(ld(m.gamma + c)) * (to_float(ld(x + c)) * r);
  const float mean = along / static_cast<float>(m.cols);

  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float d = to_float(ld(dy + c)) * to_float(ld(m.gamma + c)), xhat = to_float(ld(x + c)) * r;
    st(dx + c, from_float<T>(r * (d - xhat * mean)));
  }
}

template <class T>
__global__ void gradient_of_gamma(Matrices<T> m) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (col >= m.cols) return;
  float sum = 0;
  for (std::int64_t row = 0; row < m.rows; ++row)
    sum += to_float(ld(m.dy + row * m.dy_stride + col)) * (to_float(ld(m.x + row * m.x_stride + col)) * ld(m.roots + row));
  st(m.dgamma + col, from_float<T>(sum));
}

void run(const rmsnorm_backward::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Matrices<T> m{
        a.dy.as<T>(), a.x.as<T>(), a.gamma.as<T>(), a.dx.as<T>(),  a.dgamma.as<T>(), static_cast<float*>(l.workspace),
        rows,         cols,        a.dy.stride[0],  a.x.stride[0], a.dx.stride[0],   static_cast<float>(a.epsilon)};
    if (rows > 0) launch(gradient_of_x<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, m);
    launch(gradient_of_gamma<T>, {.grid = dim3(ceil_div(cols, kThreads)), .block = dim3(kThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(rmsnorm_backward, naive)
