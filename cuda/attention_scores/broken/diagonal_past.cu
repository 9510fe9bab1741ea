// SPDX-License-Identifier: Apache-2.0
// FAULT: key <= query + 1: every query sees one key of its future. Right without a mask, and for queries that see all keys
// anyway.
// Caught by: the bound in any case with a causal mask: a hidden P is 0 and nothing else.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, diagonal_past) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) { return m.visible(query + 1); }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, diagonal_past)
