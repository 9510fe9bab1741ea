// SPDX-License-Identifier: Apache-2.0
// FAULT: the row ends with the last key that is seen: what lies beyond the diagonal keeps what P held. Right without a mask.
// Caught by: T1, and T4 by the two garbage patterns in P; a causal mask.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, hidden_not_zeroed) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t written(const Problem<T>&, std::int64_t seen) { return seen; }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_scores, hidden_not_zeroed)
