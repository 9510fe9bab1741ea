// SPDX-License-Identifier: Apache-2.0
// A row a block of 64 threads, its terms kept in shared memory as floats between the passes, for rows of up to 8192 columns.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, row_in_shared_memory) {

inline constexpr int kThreads = 64;
inline constexpr std::int64_t kMostCols = 8192;

Legality supports(const softmax::Args& a) {
  return a.x.shape[1] > kMostCols ? Legality::no("a row has more than 8192 columns") : Legality::yes();
}
KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
    .supports = supports,
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    softmax_row_in_shared_memory(const T* x, T* y, int cols, std::int64_t x_stride, std::int64_t y_stride) {
  float* const partial = shared_memory<float>();
  float* const held = partial + kWarp;
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  const int thread = static_cast<int>(threadIdx.x);
  float max = -INFINITY, sum = 0;
  for (int c = thread; c < cols; c += kThreads) {
    const float v = to_float(ld(x + c));
    st(held + c, v);
    max = fmaxf(max, v);
  }
  max = block_max(max, partial);
  for (int c = thread; c < cols; c += kThreads) {
    const float term = expf(ld(held + c) - max);
    st(held + c, term);
    sum += term;
  }
  sum = block_sum(sum, partial);
  for (int c = thread; c < cols; c += kThreads) st(y + c, from_float<T>(ld(held + c) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_row_in_shared_memory<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = (kWarp + a.x.shape[1]) * sizeof(float)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), static_cast<int>(a.x.shape[1]), a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, row_in_shared_memory)
