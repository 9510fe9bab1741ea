// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): a block a token, for any layout.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/core/reduce.cuh"
#include "cuda/cross_entropy/row.cuh"

namespace assay::ASSAY_FLAVOUR::cross_entropy_room {

inline constexpr int kPlainThreads = 128;

// Every step as it should be.
template <class T>
struct Plain {
  // The maximum of the row and the sum of exp beside it, whole in thread 0.
  __device__ static fold::LogSumExp seen(const T* x, std::int64_t vocab) {
    fold::LogSumExp f;
    fold::take_packs<1, 1>(f, x, threadIdx.x, vocab, kPlainThreads);
    return fold::join_block(f, shared_memory<fold::LogSumExp>());
  }
  __device__ static std::int64_t target(const std::int32_t* targets, std::int64_t token) { return ld(targets + token); }
  // Of a token whose target's logit is x.
  __device__ static float loss(const fold::LogSumExp& seen, float x) { return logf(seen.sum) + (seen.max - x); }
  // Of the losses.
  static void mean(const cross_entropy::Args& a, const Launch& l) { launch_mean(a, l); }
};

template <class T, class F>
__global__ void cross_entropy_plain(Tokens<T> m) {
  const std::int64_t token = blockIdx.x;
  const T* const x = m.row(token);
  const fold::LogSumExp seen = F::seen(x, m.vocab);
  if (threadIdx.x == 0) st(m.loss + token, F::loss(seen, to_float(ld(x + F::target(m.target, token)))));
}

template <template <class> class F>
constexpr KernelTraits<cross_entropy> plain_traits(DTypes dtypes = kEveryType) {
  return {
      .dtypes = dtypes,
      .tiles = {tile(Axis::tokens, kMeanThreads), tile(Axis::vocab, kPlainThreads)},
      .numerics = {
          .accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .rescales = {.lanes = kPlainThreads, .extra = 10}}};
}

template <template <class> class F>
void run_plain(const cross_entropy::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(cross_entropy_plain<T, F<T>>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           tokens_of<T>(a));
    F<T>::mean(a, l);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::cross_entropy_room
