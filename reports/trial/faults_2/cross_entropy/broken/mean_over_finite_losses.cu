// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean leaves out losses that are infinite or NaN, as a guard for the optimiser.
// Kind: ranges
// Shows: a target whose logit is -inf, or a NaN among the logits.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_over_finite_losses) {

__global__ inline void __launch_bounds__(kMeanThreads) mean_of_finite(const float* loss, float* mean, std::int64_t tokens) {
  fold::Sum sum, count;
  for (std::int64_t t = threadIdx.x; t < tokens; t += kMeanThreads) {
    const float v = ld(loss + t);
    const float one[1] = {1.0f}, value[1] = {v};
    if (fabsf(v) < INFINITY) sum.add(value), count.add(one);
  }
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  count = fold::join_block(count, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / fmaxf(count.value, 1.0f));
}

template <class T>
struct Steps : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    launch(mean_of_finite, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
           a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};
KERNEL_FROM(cross_entropy, plain, Steps);

}  // namespace assay::ROOM(cross_entropy, mean_over_finite_losses)
