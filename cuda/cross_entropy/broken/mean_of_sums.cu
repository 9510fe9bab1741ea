// SPDX-License-Identifier: Apache-2.0
// FAULT: the sum of the losses for their mean. Right for one token.
// Caught by: the bound of the mean with several tokens.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_of_sums) {

__global__ void sum_of_losses(const float* loss, float* mean, std::int64_t tokens) {
  float sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += ld(loss + t);
  st(mean, sum);
}

template <class T>
struct Wrong : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    launch(sum_of_losses, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, mean_of_sums)
