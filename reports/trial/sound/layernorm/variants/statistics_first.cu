// SPDX-License-Identifier: Apache-2.0
// Two launches: a warp a row writes mean and 1 / deviation to the workspace as f32; then threads walk over all elements.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, statistics_first) {

inline constexpr int kWarps = 3, kThreads = kWarps * kWarp;
inline constexpr std::int64_t kMostBlocks = 128;

struct alignas(8) Statistics {
  float mean, r;
};
std::size_t workspace_bytes(const layernorm::Args& a) { return static_cast<std::size_t>(a.x.shape[0]) * sizeof(Statistics); }
KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kWarps), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void layernorm_statistics_first(const T* x, Statistics* of_rows, std::int64_t rows, std::int64_t cols,
                                           std::int64_t x_stride, float epsilon) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_id();
  if (row >= rows) return;
  x += row * x_stride;
  const float width = static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += to_float(ld(x + c));
  const float mean = warp_sum(sum) / width;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) {
    const float d = to_float(ld(x + c)) - mean;
    squares = fmaf(d, d, squares);
  }
  squares = warp_sum(squares);
  if (lane_id() == 0) st(of_rows + row, Statistics{mean, 1.0f / sqrtf(squares / width + epsilon)});
}

template <class T>
__global__ void layernorm_then_elements(const T* x, const T* gamma, const T* beta, const Statistics* of_rows, T* y,
                                        std::int64_t all, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < all; i += step) {
    const std::int64_t row = i / cols, c = i - row * cols;
    const Statistics by = ld(of_rows + row);
    const float norm = (to_float(ld(x + row * x_stride + c)) - by.mean) * by.r;
    st(y + row * y_stride + c, from_float<T>(fmaf(norm, to_float(ld(gamma + c)), to_float(ld(beta + c)))));
  }
}

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], all = rows * cols;
  if (rows == 0) return;
  Statistics* const of_rows = static_cast<Statistics*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(layernorm_statistics_first<T>, {.grid = dim3(ceil_div(rows, kWarps)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           of_rows, rows, cols, a.x.stride[0], static_cast<float>(a.epsilon));
    launch(layernorm_then_elements<T>,
           {.grid = dim3(std::min(ceil_div(all, kThreads), kMostBlocks)), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.gamma.as<T>(), a.beta.as<T>(), of_rows, a.y.as<T>(), all, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(layernorm, statistics_first)
