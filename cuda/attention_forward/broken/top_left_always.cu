// SPDX-License-Identifier: Apache-2.0
// FAULT: the causal mask is aligned top-left whatever was asked for: key k is visible iff k <= q.
// Caught by: the bound, with mask=causal and seq_q != seq_k; right where they are equal, and with another mask.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, top_left_always) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const bool masked = p.above < p.keys;
    return {p.first_visible(query), masked && query + 1 < p.keys ? query + 1 : p.keys};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, top_left_always)
