// SPDX-License-Identifier: Apache-2.0
// FAULT: a key's first query is rounded up to a tile of 16 where the diagonal does not run through the corners of tiles.
// Kind: combination
// Caught by: unknown
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
