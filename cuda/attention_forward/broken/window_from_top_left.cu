// SPDX-License-Identifier: Apache-2.0
// FAULT: the window ends at the query's own index instead of its place. Right where there are as many queries as keys.
// Kind: combination
// Caught by: the bound, with batch=1 seq_q=141 seq_k=201 heads=1 kv_heads=1 head_dim=32 window=1 (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, window_from_top_left) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int end = p.visible(query), first = p.window > 0 ? query + 1 - p.window : 0;
    return {first < 0 ? 0 : first < end ? first : end, end};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, window_from_top_left)
