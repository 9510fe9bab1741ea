// SPDX-License-Identifier: Apache-2.0
// FAULT: the columns are taken in fours, and nothing takes the cols % 4 that remain.
// Caught by: the comparison on probe_hot where cols % 4 != 0, and the bound on any such row.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, dropped_tail) {

inline constexpr int kThreads = 128;

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 10}, .rescales = {.lanes = kThreads, .extra = 10}},
};

template <class Fold, class T>
__device__ void reduce(const T* x, float* y, std::int64_t cols) {
  Fold f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, cols / 4 * 4, kThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T>
__global__ void dropped_tail(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
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
    launch(dropped_tail<T>,
           {.grid = dim3(rows), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, dropped_tail)
