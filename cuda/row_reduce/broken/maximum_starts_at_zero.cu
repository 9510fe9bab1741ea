// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at 0 instead of -inf, for logsumexp as well. Right where a row has a value above zero, and for
// logsumexp while exp does not underflow.
// Caught by: the comparison on probe_hot and all_far_below_zero: 0 for a negative maximum, -inf for a logarithm.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, maximum_starts_at_zero) {

inline constexpr int kThreads = 128;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

template <class Fold, class T>
__device__ void reduce(const T* x, float* y, std::int64_t cols) {
  Fold f;
  if constexpr (std::is_same_v<Fold, fold::Max>) f.value = 0;
  if constexpr (std::is_same_v<Fold, fold::LogSumExp>) f.max = 0;
  fold::take_packs<1, 1>(f, x, threadIdx.x, cols, kThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T>
__global__ void maximum_starts_at_zero(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  if (what == Reduction::sum) reduce<fold::Sum>(x, y, cols);
  else if (what == Reduction::max) reduce<fold::Max>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce<fold::LogSumExp>(x, y, cols);
  else reduce<fold::SumOfSquares>(x, y, cols);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(maximum_starts_at_zero<T>,
           {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, maximum_starts_at_zero)
