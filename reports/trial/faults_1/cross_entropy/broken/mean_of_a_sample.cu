// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean is that of at most 256 tokens, evenly spread over all.
// Kind: cheats
// Shows: more than 256 tokens.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_of_a_sample) {

__global__ void mean_of_sample(const float* loss, float* mean, std::int64_t tokens) {
  const std::int64_t count = tokens < 256 ? tokens : 256;
  fold::Sum sum;
  for (std::int64_t i = threadIdx.x; i < count; i += kMeanThreads) {
    const float v[1] = {ld(loss + i * tokens / count)};
    sum.add(v);
  }
  sum = fold::join_block(sum, shared_memory<fold::Sum>());
  if (threadIdx.x == 0) st(mean, sum.value / static_cast<float>(count));
}

template <class T>
struct Sampled : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    launch(mean_of_sample, {.grid = dim3(1), .block = dim3(kMeanThreads), .shared_bytes = kWarp * sizeof(fold::Sum)}, l.stream,
           a.loss.as<float>(), a.mean.as<float>(), a.x.shape[0]);
  }
};

KERNEL_FROM(cross_entropy, plain, Sampled);

}  // namespace assay::ROOM(cross_entropy, mean_of_a_sample)
