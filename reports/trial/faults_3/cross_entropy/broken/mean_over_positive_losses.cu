// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is over the tokens whose loss is not zero, as if the others were ignored.
// Kind: algorithm
// Shows: tokens with a loss of exactly zero, such as all with vocab=1.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_over_positive_losses) {

__global__ inline void __launch_bounds__(kMeanThreads) mean_of_counted(const float* loss, float* mean, std::int64_t tokens) {
  fold::Sum sum, count;
  for (std::int64_t t = threadIdx.x; t < tokens; t += kMeanThreads) {
    const float v = ld(loss + t);
    sum.value += v;
    if (v != 0) count.value += 1;
  }
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  count = fold::join_block(count, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, count.value == 0 ? 0.0f : sum.value / count.value);
}
template <class T>
struct Counted : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    launch(mean_of_counted, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
           a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};
KERNEL_FROM(cross_entropy, plain, Counted);

}  // namespace assay::ROOM(cross_entropy, mean_over_positive_losses)
