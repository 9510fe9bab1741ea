// SPDX-License-Identifier: Apache-2.0
// FAULT: a key starts with the query after the first that sees it, as `query > key` would: the diagonal is left out.
// Caught by: the bound, on any fill with a causal mask; right without a mask, and dQ always.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, causal_off_by_one) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) { return p.seen_from(key) + (p.above < p.keys); }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, causal_off_by_one)
