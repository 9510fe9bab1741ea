// SPDX-License-Identifier: Apache-2.0
// FAULT: the mask is applied to P only: maximum and sum run over all keys. Right without a mask.
// Caught by: T1, T0 on probe_digits; a causal mask.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, hidden_keys_in_sum) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t in_maximum(const Problem<T>& m, std::int64_t) { return m.seq_k; }
  static __device__ std::int64_t in_sum(const Problem<T>& m, std::int64_t) { return m.seq_k; }
};
KERNEL_FROM(attention_scores, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(attention_scores, hidden_keys_in_sum)
