// SPDX-License-Identifier: Apache-2.0
// FAULT: without a mask the window is not applied.
// Kind: combination
// Caught by: the bound, with batch=1 seq_q=141 seq_k=201 heads=1 kv_heads=1 head_dim=32 window=1 (f16).
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, window_only_with_causal) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    return {p.mask == attention_forward::Mask::none ? 0 : p.first_visible(query), p.visible(query)};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, window_only_with_causal)
