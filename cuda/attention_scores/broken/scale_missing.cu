// SPDX-License-Identifier: Apache-2.0
// FAULT: Q K^T is not scaled. Right for one channel, where the usual scale is 1, and where only one key is seen.
// Caught by: the bound on any random case with more channels.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, scale_missing) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float score(const Problem<T>&, float dot, std::int64_t, std::int64_t) { return dot; }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, scale_missing)
