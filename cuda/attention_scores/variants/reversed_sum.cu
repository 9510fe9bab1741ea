// SPDX-License-Identifier: Apache-2.0
// A query a warp, its keys taken from the last to the first.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, reversed_sum) {

template <class T>
struct Reversed : Plain<T> {
  static __device__ std::int64_t taken(std::int64_t key, std::int64_t count) { return count - 1 - key; }
};
KERNEL_FROM(attention_scores, plain, Reversed);

}  // namespace assay::ROOM(attention_scores, reversed_sum)
