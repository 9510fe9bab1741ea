// SPDX-License-Identifier: Apache-2.0
// FAULT: threads without a column do not store their part, which the others then add up from shared memory that nobody wrote.
// Kind: concurrency
// Shows: fewer than 128 columns.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, partials_of_idle_threads) {

inline constexpr int kThreads = 128;

template <class Fold, class T>
__device__ void reduce_row(const T* x, float* y, std::int64_t cols) {
  Fold* const parts = shared_memory<Fold>();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < cols || cols == 0) {
    Fold f;
    fold::take_packs<1, 1>(f, x, thread, cols, kThreads);
    st(parts + thread, f);
  }
  for (int half = kThreads / 2; half > 0; half /= 2) {
    sync_block();
    if (thread < half) {
      Fold f = ld(parts + thread);
      f.join(ld(parts + thread + half));
      st(parts + thread, f);
    }
  }
  if (thread == 0) st(y, ld(parts).result());
}

template <class T>
__global__ void row_reduce_tree(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride, y += blockIdx.x;
  if (what == Reduction::sum) reduce_row<fold::Sum>(x, y, cols);
  else if (what == Reduction::max) reduce_row<fold::Max>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce_row<fold::LogSumExp>(x, y, cols);
  else reduce_row<fold::SumOfSquares>(x, y, cols);
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 7}, .rescales = {.lanes = kThreads, .extra = 7}},
};

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_tree<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kThreads), .shared_bytes = kThreads * sizeof(fold::LogSumExp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ROOM(row_reduce, partials_of_idle_threads)
