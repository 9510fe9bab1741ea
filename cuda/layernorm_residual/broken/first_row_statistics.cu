// SPDX-License-Identifier: Apache-2.0
// FAULT: a warp takes four rows, but mean and 1/deviation are computed before its loop: of the first row, for all.
// Caught by: the bound, on any random fill with more than one row; right where all rows are permutations of each other.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, first_row_statistics) {

inline constexpr int kThreads = 32, kRows = 4;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 4), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 5}},
};

template <class T>
__global__ void first_row_statistics(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t rows,
                                     std::int64_t cols, std::int64_t x_stride, std::int64_t residual_stride,
                                     std::int64_t y_stride, float epsilon) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kRows;
  const T* const first_row = x + first * x_stride;

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += to_float(ld(first_row + c));
  const float mean = warp_sum(sum) / static_cast<float>(cols);

  float squares = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float d = to_float(ld(first_row + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(cols) + epsilon);

  for (std::int64_t row = first; row < rows && row < first + kRows; ++row)
    for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
      const float d = to_float(ld(x + row * x_stride + c)) - mean;
      const float normalised = fmaf(d * r, to_float(ld(gamma + c)), to_float(ld(beta + c)));
      st(y + row * y_stride + c, from_float<T>(normalised + to_float(ld(residual + row * residual_stride + c))));
    }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(first_row_statistics<T>, {.grid = dim3(ceil_div(rows, kRows)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.residual.stride[0],
           a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm_residual, first_row_statistics)
