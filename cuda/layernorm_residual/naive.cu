// SPDX-License-Identifier: Apache-2.0
// One thread per row, three serial passes, for any layout.
// Lanes of a warp read elements one row apart, so each access loads a 32-byte sector for one element.
#include "cuda/core/kernel.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ROOM(layernorm_residual, naive) {

inline constexpr int kThreads = 128;

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void naive(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t rows, std::int64_t cols,
                      std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride, float epsilon) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride;
  residual += row * residual_stride;
  y += row * y_stride;

  float sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += to_float(ld(x + c));
  const float mean = sum / static_cast<float>(cols);

  float squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  const float r = 1.0f / sqrtf(squares / static_cast<float>(cols) + epsilon);

  for (std::int64_t c = 0; c < cols; ++c) {
    const float normalised = fmaf((to_float(ld(x + c)) - mean) * r, to_float(ld(gamma + c)), to_float(ld(beta + c)));
    st(y + c, from_float<T>(normalised + to_float(ld(residual + c))));
  }
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(naive<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.residual.as<T>(),
           a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.residual.stride[0], a.y.stride[0],
           static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(layernorm_residual, naive)
