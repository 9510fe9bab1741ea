// SPDX-License-Identifier: Apache-2.0
// One thread per row, two serial passes, for any layout.
// Lanes of a warp read elements one row apart, so each access loads a 32-byte sector for one element.
#include "cuda/core/kernel.cuh"
#include "ops/l2norm.hpp"

namespace assay::ROOM(l2norm, naive) {

inline constexpr int kThreads = 128;

KERNEL(l2norm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1, .extra = 0}},
};

template <class T>
__global__ void l2norm_naive(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride,
                             float epsilon) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride;
  y += row * y_stride;

  float squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) squares = fmaf(to_float(ld(x + c)), to_float(ld(x + c)), squares);
  const float scale = 1.0f / sqrtf(squares + epsilon);

  for (std::int64_t c = 0; c < cols; ++c) st(y + c, from_float<T>(to_float(ld(x + c)) * scale));
}

void run(const l2norm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(l2norm_naive<T>, {.grid = dim3(ceil_div(rows, kThreads)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(), a.y.as<T>(),
           rows, cols, a.x.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(l2norm, naive)
