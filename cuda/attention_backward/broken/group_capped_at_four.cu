// SPDX-License-Identifier: Apache-2.0
// FAULT: dK and dV sum over the first four query heads of a group, as many as a block has warps.
// Kind: combination
// Caught by: the bound, with batch=2 seq_q=3 seq_k=66 heads=7 kv_heads=1 head_dim=32 (f16).
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, group_capped_at_four) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int end_head(const Problem<T>& p, int kv) { return kv * p.group + (p.group < 4 ? p.group : 4); }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, group_capped_at_four)
