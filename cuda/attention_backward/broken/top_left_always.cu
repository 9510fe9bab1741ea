// SPDX-License-Identifier: Apache-2.0
// FAULT: dK and dV take the causal mask for aligned at the top left, whatever was asked for.
// Caught by: the bound, on any fill with mask=causal and seq_q != seq_k; right without a mask and with causal_top_left.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, top_left_always) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) { return p.above < p.keys ? key : 0; }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, top_left_always)
