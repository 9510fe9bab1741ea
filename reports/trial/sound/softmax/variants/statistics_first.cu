// SPDX-License-Identifier: Apache-2.0
// Two launches: a block a row writes the maximum and the sum's reciprocal to the workspace as f32, its threads' sums rescaled as
// their maxima grow; then threads walk over all elements.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, statistics_first) {

inline constexpr int kThreads = 96;
inline constexpr std::int64_t kMostBlocks = 100;

struct alignas(8) Statistics {
  float max, part;
};
std::size_t workspace_bytes(const softmax::Args& a) { return static_cast<std::size_t>(a.x.shape[0]) * sizeof(Statistics); }
// Five additions in a warp, two to join three warps.
KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kThreads, .extra = 5 + 2},
                 .rescales = {.lanes = kThreads, .extra = 1}},
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_statistics_first(const T* x, Statistics* of_rows, std::int64_t cols, std::int64_t x_stride) {
  float* const partial = shared_memory<float>();
  x += blockIdx.x * x_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float v = to_float(ld(x + c));
    if (v > max) {
      sum = sum * expf(max - v) + expf(v - v);  // of +inf a NaN, as in the formula
      max = v;
    } else if (!(v == -INFINITY)) {
      sum += expf(v - max);
    }
  }
  const float all = block_max(max, partial);
  sum = block_sum(max == all ? sum : sum * expf(max - all), partial);
  if (threadIdx.x == 0) st(of_rows + blockIdx.x, Statistics{all, 1.0f / sum});
}

template <class T>
__global__ void softmax_then_elements(const T* x, const Statistics* of_rows, T* y, std::int64_t all, std::int64_t cols,
                                      std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < all; i += step) {
    const std::int64_t row = i / cols, c = i - row * cols;
    const Statistics by = ld(of_rows + row);
    st(y + row * y_stride + c, from_float<T>(expf(to_float(ld(x + row * x_stride + c)) - by.max) * by.part));
  }
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], all = rows * cols;
  if (rows == 0) return;
  Statistics* const of_rows = static_cast<Statistics*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_statistics_first<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)},
           l.stream, a.x.as<T>(), of_rows, cols, a.x.stride[0]);
    launch(softmax_then_elements<T>, {.grid = dim3(std::min(ceil_div(all, kThreads), kMostBlocks)), .block = dim3(kThreads)},
           l.stream, a.x.as<T>(), of_rows, a.y.as<T>(), all, cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, statistics_first)
