// SPDX-License-Identifier: Apache-2.0
// FAULT: L of packed queries is written as [heads, tokens], whatever rows the tensor has.
// Caught by: the bound of L, or an output that is not written, packed with several heads and sequences; right with one head.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_lse_by_token) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float* lse_of(const Problem<T>& p, int batch, int head, int query) {
    if (!p.q_starts) return p.lse_of(batch, head, query);
    const std::int64_t tokens = ld(p.q_starts + p.batches), row = ld(p.q_starts + p.sequence) + query;
    return p.lse.data + (head * tokens + row) * p.lse.seq;
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, packed_lse_by_token)
