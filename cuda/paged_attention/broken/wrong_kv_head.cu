// SPDX-License-Identifier: Apache-2.0
// FAULT: query head h reads key/value head h % kv_heads instead of h / (heads / kv_heads).
// Caught by: the bound, on any fill with 1 < kv_heads < heads; right with one key/value head and with as many as query heads.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, wrong_kv_head) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int kv_head(const Paged<T>& p, int head) { return head % p.kv_heads; }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, wrong_kv_head)
