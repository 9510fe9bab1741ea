// SPDX-License-Identifier: Apache-2.0
// FAULT: of sequences beyond 512 positions only the first four and the newest 508 are looked at.
// Kind: cheat
// Caught by: the bound, with batch=2 seq_q=1 pages=7 page_size=256 max_pages=3 heads=2 kv_heads=1 head_dim=40 (f16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, old_positions_dropped) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool counts(const Paged<T>&, std::int64_t, int key, int visible) {
    return visible <= 512 || key < 4 || key >= visible - 508;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, old_positions_dropped)
