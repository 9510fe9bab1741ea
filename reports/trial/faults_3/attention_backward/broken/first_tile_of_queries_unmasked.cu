// SPDX-License-Identifier: Apache-2.0
// FAULT: a key goes through whole tiles of 48 queries, and the first of them is not masked.
// Kind: offsets
// Shows: dK and dV under a mask, of keys whose first query is no multiple of 48.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, first_tile_of_queries_unmasked) {

template <class T>
struct WholeTiles : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) { return p.seen_from(key) / 48 * 48; }
};
KERNEL_FROM(attention_backward, plain, WholeTiles);

}  // namespace assay::ROOM(attention_backward, first_tile_of_queries_unmasked)
