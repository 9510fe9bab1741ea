// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean's sum takes one loss a thread, 512 of them, and divides by all. Right for up to 512 tokens.
// Caught by: the bound of the mean with more tokens.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_of_first_block) {

__global__ void mean_of_first(const float* loss, float* mean, std::int64_t tokens) {
  const float sum = block_sum(threadIdx.x < tokens ? ld(loss + threadIdx.x) : 0.0f, shared_memory<float>());
  if (threadIdx.x == 0) st(mean, sum / static_cast<float>(tokens));
}

template <class T>
struct Wrong : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    launch(mean_of_first, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(float)}, l.stream,
           a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, mean_of_first_block)
