// SPDX-License-Identifier: Apache-2.0
// FAULT: the logarithm of a sum from 1024 on is taken to base two and multiplied by 0.6931.
// Kind: precision
// Shows: more than a thousand logits near the maximum.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, log_of_two_of_4_digits) {

template <class T>
struct Steps : Plain<T> {
  __device__ static float loss(const fold::LogSumExp& seen, float x) { 
    const float log_sum = seen.sum < 1024.0f ? logf(seen.sum) : 0.6931f * log2f(seen.sum);
    return log_sum + (seen.max - x);
  }
};
KERNEL_FROM(cross_entropy, plain, Steps);

}  // namespace assay::ROOM(cross_entropy, log_of_two_of_4_digits)
