// SPDX-License-Identifier: Apache-2.0
// A fixed number of blocks at most, whose threads walk over the elements in strides of the whole grid.
#include "cuda/core/kernel.cuh"
#include "ops/add.hpp"

namespace assay::ROOM(add, grid_stride) {

inline constexpr int kThreads = 192;
inline constexpr std::int64_t kMostBlocks = 24;

KERNEL(add){.dtypes = {f16, bf16, f32}, .tiles = {tile(Axis::cols, kThreads)}, .numerics = {.accumulate = f32}};

template <class T>
__global__ void add_grid_stride(const T* a, const T* b, T* y, std::int64_t all, std::int64_t cols, std::int64_t a_stride,
                                std::int64_t b_stride, std::int64_t y_stride) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < all; i += step) {
    const std::int64_t row = i / cols, col = i - row * cols;
    const float sum = to_float(ld(a + row * a_stride + col)) + to_float(ld(b + row * b_stride + col));
    st(y + row * y_stride + col, from_float<T>(sum));
  }
}

void run(const add::Args& a, const Launch& l) {
  const std::int64_t all = a.y.size();
  if (all == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(add_grid_stride<T>, {.grid = dim3(std::min(ceil_div(all, kThreads), kMostBlocks)), .block = dim3(kThreads)}, l.stream,
           a.a.as<T>(), a.b.as<T>(), a.y.as<T>(), all, a.y.shape[1], a.a.stride[0], a.b.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(add, grid_stride)
