// SPDX-License-Identifier: Apache-2.0
// FAULT: the path for one query a sequence gives query head h the key/value head h % kv_heads; the other path is right.
// Kind: combination
// Caught by: the exact probes, with fill=probe_one_key (f16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, single_query_heads_mixed) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int kv_head(const Paged<T>& p, int head) {
    return p.queries == 1 ? head % p.kv_heads : Plain<T>::kv_head(p, head);
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, single_query_heads_mixed)
