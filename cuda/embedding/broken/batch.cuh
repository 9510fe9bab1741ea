// SPDX-License-Identifier: Apache-2.0
// The steps of one_batch.cu (core/kernel_family.cuh) for any layout: a block a token, whose threads have four elements each in
// flight and then take the next ones.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "ops/embedding.hpp"

namespace assay::ASSAY_FLAVOUR::embedding_room {

inline constexpr int kBatchThreads = 64, kInFlight = 4;

// Every step as it should be.
template <class T>
struct Batch {
  // How far the row of the table moves on after a batch.
  static constexpr int kStep = kInFlight * kBatchThreads;
  // Whether element number h of a thread's batch is stored, of `left` that remain of the row.
  __device__ static bool stored(int h, std::int64_t left) { return h < left; }
};

template <class T, class F>
__global__ void embedding_batch(const T* table, const std::int32_t* ids, T* y, std::int64_t hidden, std::int64_t table_stride,
                                std::int64_t y_stride) {
  const int thread = static_cast<int>(threadIdx.x);
  const T* from = table + ld(ids + blockIdx.x) * table_stride + thread;
  T* to = y + blockIdx.x * y_stride + thread;
  for (std::int64_t left = hidden - thread; left > 0; left -= kInFlight * kBatchThreads) {
    T v[kInFlight]{};
    for (int k = 0; k < kInFlight; ++k)
      if (k * kBatchThreads < left) v[k] = ld(from + k * kBatchThreads);
    for (int k = 0; k < kInFlight; ++k)
      if (F::stored(k * kBatchThreads, left)) st(to + k * kBatchThreads, v[k]);
    from += F::kStep;
    to += kInFlight * kBatchThreads;
  }
}

template <template <class> class F>
constexpr KernelTraits<embedding> batch_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes, .tiles = {tile(Axis::hidden, kBatchThreads)}, .numerics = {.accumulate = f32}};
}

template <template <class> class F>
void run_batch(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    launch(embedding_batch<T, F<T>>, {.grid = dim3(tokens), .block = dim3(kBatchThreads)}, l.stream, a.table.as<T>(),
           a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::embedding_room
