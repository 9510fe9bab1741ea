// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a row, for any layout.
#pragma once

#include "cuda/core/fold.cuh"
#include "cuda/core/kernel_family.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ASSAY_FLAVOUR::row_reduce_room {

inline constexpr int kPlainThreads = 128;

// Every step as it should be.
template <class T>
struct Plain {
  // How many columns are taken.
  __device__ static std::int64_t end(std::int64_t cols) { return cols; }
  template <class Fold>
  __device__ static Fold join(const Fold& f) {
    return fold::join_block(f, shared_memory<Fold>());
  }
};

template <class Fold, class F, class T>
__device__ void reduce(const T* x, float* y, std::int64_t cols) {
  Fold f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, F::end(cols), kPlainThreads);
  f = F::join(f);
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

template <class T, class F>
__global__ void row_reduce_plain(const T* x, float* y, std::int64_t cols, std::int64_t stride, Reduction what) {
  x += blockIdx.x * stride;
  if (what == Reduction::sum) reduce<fold::Sum, F>(x, y, cols);
  else if (what == Reduction::max) reduce<fold::Max, F>(x, y, cols);
  else if (what == Reduction::logsumexp) reduce<fold::LogSumExp, F>(x, y, cols);
  else reduce<fold::SumOfSquares, F>(x, y, cols);
}

template <template <class> class F>
constexpr KernelTraits<row_reduce> plain_traits(DTypes dtypes = kEveryType) {
  return {
      .dtypes = dtypes,
      .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
      .numerics = {
          .accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .rescales = {.lanes = kPlainThreads, .extra = 10}}};
}

template <template <class> class F>
void run_plain(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_plain<T, F<T>>,
           {.grid = dim3(rows), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), a.x.shape[1], a.x.stride[0], a.what);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::row_reduce_room
