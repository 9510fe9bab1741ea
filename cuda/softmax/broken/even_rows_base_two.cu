// SPDX-License-Identifier: Apache-2.0
// FAULT: rows of even number take exp as a power of two, the others as expf: a row's bits depend on where it lies.
// Caught by: the relations alone (rows_permuted), in f32 on any random row: either form is within the bound.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, even_rows_base_two) {

inline constexpr int kThreads = 128;

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}},
};

__device__ inline float exp_of(float v, bool base_two) { return base_two ? exp2f(v * 1.44269504f) : expf(v); }

template <class T>
__global__ void even_rows_base_two(const T* x, T* y, std::int64_t cols, std::int64_t x_stride, std::int64_t y_stride) {
  const std::int64_t row = blockIdx.x;
  x += row * x_stride, y += row * y_stride;
  const bool even = row % 2 == 0;
  float* const scratch = shared_memory<float>();

  float max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(ld(x + c)));
  max = block_max(max, scratch);

  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += exp_of(to_float(ld(x + c)) - max, even);
  sum = block_sum(sum, scratch);

  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads)
    st(y + c, from_float<T>(exp_of(to_float(ld(x + c)) - max, even) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(even_rows_base_two<T>, {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, even_rows_base_two)
