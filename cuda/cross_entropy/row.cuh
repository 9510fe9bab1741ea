// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of this room: the loss of a token from its maximum and sum, the mean by one block, the launch.
#pragma once

#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/cross_entropy.hpp"

namespace assay::ASSAY_FLAVOUR::cross_entropy_room {

template <class T>
struct Tokens {
  const T* x;  // [tokens, vocab], rows `stride` elements apart
  const std::int32_t* target;
  float* loss;
  std::int64_t tokens, vocab, stride;
  __device__ const T* row(std::int64_t token) const { return x + token * stride; }
  // Note: takes the difference first; log s added to a large maximum would lose its digits.  By the formula a +inf makes inf -
  // inf.
  __device__ void store_loss(std::int64_t token, const fold::LogSumExp& seen) const {
    const float behind = seen.max - to_float(ld(row(token) + ld(target + token)));
    st(loss + token, seen.max == INFINITY ? NAN : logf(seen.sum) + behind);
  }
};

template <class T>
Tokens<T> tokens_of(const cross_entropy::Args& a) {
  return {a.x.as<T>(), a.target.as<std::int32_t>(), a.loss.as<float>(), a.x.shape[0], a.x.shape[1], a.x.stride[0]};
}

inline constexpr int kMeanThreads = 512;

// Per thread ceil(tokens / kMeanThreads) additions, then 10 joins, always in the same order.  It begins before the launch of the
// losses has ended.
__global__ inline void __launch_bounds__(kMeanThreads) mean_of_losses(const float* loss, float* mean, std::int64_t tokens) {
  wait_for_previous_grid();
  fold::Sum sum;
  fold::take_packs<4, 1>(sum, loss, threadIdx.x, tokens, kMeanThreads);
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / static_cast<float>(tokens));
}

inline void launch_mean(const cross_entropy::Args& a, const Launch& l) {
  launch(mean_of_losses,
         {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(fold::Sum), .dependent = true}, l.stream,
         a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
}

}  // namespace assay::ASSAY_FLAVOUR::cross_entropy_room
