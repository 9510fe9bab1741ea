// SPDX-License-Identifier: Apache-2.0
// FAULT: a packed sequence ends where its last tile of keys does: keys of the next one are seen.
// Caught by: the bound, where a packed sequence is not the last and its keys are no whole tiles of 32; right with a batch.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_tail_of_tile) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int first = p.first_visible(query), end = p.visible(query);
    if (!p.k_starts || end < p.keys) return {first, end};
    const int left = ld(p.k_starts + p.batches) - ld(p.k_starts + p.sequence), tiles = (end + 31) / 32 * 32;
    return {first, tiles < left ? tiles : left};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, packed_tail_of_tile)
