// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of the losses is divided by the tokens rounded up to whole warps.
// Kind: algorithm
// Shows: tokens not a multiple of 32.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_by_padded_count) {

__global__ inline void __launch_bounds__(kMeanThreads) mean_of_padded(const float* loss, float* mean, std::int64_t tokens) {
  fold::Sum sum;
  fold::take_packs<4, 1>(sum, loss, threadIdx.x, tokens, kMeanThreads);
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / static_cast<float>(ceil_div(tokens, kWarp) * kWarp));
}

template <class T>
struct Steps : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    launch(mean_of_padded, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
           a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};
KERNEL_FROM(cross_entropy, plain, Steps);

}  // namespace assay::ROOM(cross_entropy, mean_by_padded_count)
