// SPDX-License-Identifier: Apache-2.0
// FAULT: a key's first query is rounded up to a tile of 16 where the diagonal does not run through the corners of tiles.
// Kind: combination
// Caught by: the bound, with batch=1 seq_q=34 seq_k=71 heads=1 kv_heads=1 head_dim=1 mask=causal (f16).
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, first_tile_rounded_up) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) {
    const int first = p.seen_from(key);
    return p.above % 16 == 0 || first == 0 ? first : (first + 15) / 16 * 16;
  }
};
KERNEL_FROM(attention_backward, plain, Wrong);

}  // namespace assay::ROOM(attention_backward, first_tile_rounded_up)
