// SPDX-License-Identifier: Apache-2.0
// FAULT: tiles of 32 positions are counted as (length + 30) / 32: a last tile of one position is left out.
// Kind: combination
// Caught by: the bound, with batch=2 seq_q=1 pages=7 page_size=1 max_pages=3 heads=2 kv_heads=1 head_dim=40 (bf16).
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, tile_count_one_short) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int end(const Paged<T>&, int visible) {
    const int tiles = (visible + 30) / 32;
    return visible < tiles * 32 ? visible : tiles * 32;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, tile_count_one_short)
