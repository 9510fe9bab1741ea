// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is a constant of the kernel, 1e-5, whatever is asked for.
// Caught by: T1, with another epsilon: 1e-3 on any row, 1e-12 on rows of small deviation.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, epsilon_fixed) {

inline constexpr int kThreads = 128;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

template <class T>
__global__ void epsilon_fixed(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t cols,
                              std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, residual += row * residual_stride, y += row * y_stride;
  float* const partial = shared_memory<float>();

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += to_float(ld(x + c));
  const float mean = block_sum(sum, partial) / static_cast<float>(cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(cols) + epsilon);

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float normalised = fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)));
    st(y + c, from_float<T>(normalised + to_float(ld(residual + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(epsilon_fixed<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), cols, a.x.stride[0],
           a.residual.stride[0], a.y.stride[0], 1e-5f);
  });
}

}  // namespace assay::ROOM(layernorm_residual, epsilon_fixed)
