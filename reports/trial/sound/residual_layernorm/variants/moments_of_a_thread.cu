// SPDX-License-Identifier: Apache-2.0
// A row a thread, from its first column to its last: the sum is stored and its mean and variance updated value by value (Welford
// 1962); then y from the stored sum.
#include "cuda/core/kernel.cuh"
#include "ops/residual_layernorm.hpp"

namespace assay::ROOM(residual_layernorm, moments_of_a_thread) {

inline constexpr int kThreads = 32;

KERNEL(residual_layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .running_moments = true},
};

template <class T>
struct Rows {
  const T *x, *residual, *gamma, *beta;
  T *y, *s;
  std::int64_t rows, cols, x_stride, residual_stride, y_stride, s_stride;
  float epsilon;
};

template <class T>
__global__ void residual_layernorm_moments_of_a_thread(Rows<T> m) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= m.rows) return;
  const T* const x = m.x + row * m.x_stride;
  const T* const residual = m.residual + row * m.residual_stride;
  T* const s = m.s + row * m.s_stride;
  float mean = 0, squares = 0;
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const T stored = from_float<T>(to_float(ld(x + c)) + to_float(ld(residual + c)));
    st(s + c, stored);
    const float v = to_float(stored), before = v - mean;
    mean += before / static_cast<float>(c + 1);
    squares = fmaf(before, v - mean, squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const float norm = (to_float(ld(s + c)) - mean) * r;
    st(m.y + row * m.y_stride + c, from_float<T>(fmaf(norm, to_float(ld(m.gamma + c)), to_float(ld(m.beta + c)))));
  }
}

void run(const residual_layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), a.s.as<T>(), rows,
                    a.x.shape[1], a.x.stride[0], a.residual.stride[0], a.y.stride[0], a.s.stride[0],
                    static_cast<float>(a.epsilon)};
    launch(residual_layernorm_moments_of_a_thread<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream,
           m);
  });
}

}  // namespace assay::ROOM(residual_layernorm, moments_of_a_thread)
