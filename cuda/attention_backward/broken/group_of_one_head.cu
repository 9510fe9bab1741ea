// SPDX-License-Identifier: Apache-2.0
// FAULT: dK and dV sum over the first query head of a group alone.
// Caught by: the bound, on any fill with heads > kv_heads; right with as many key/value heads as query heads.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, group_of_one_head) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int end_head(const Problem<T>& p, int kv) { return kv * p.group + 1; }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, group_of_one_head)
