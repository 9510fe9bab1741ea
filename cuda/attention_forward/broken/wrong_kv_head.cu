// SPDX-License-Identifier: Apache-2.0
// FAULT: query head h reads key/value head h % kv_heads instead of h / (heads / kv_heads).
// Caught by: the bound, on any fill with 1 < kv_heads < heads; right with one key/value head and with as many as query heads.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, wrong_kv_head) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int kv_head(const Problem<T>& p, int head) { return head % (p.heads / p.group); }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, wrong_kv_head)
