// SPDX-License-Identifier: Apache-2.0
// FAULT: keys of the last tile that do not exist are zeros with a score of zero, and are weighed like any other.
// Caught by: the bound, without a mask and seq_k % 32 != 0, most plainly where all scores are negative; right with whole tiles.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, padding_key_counted) {

template <class T>
struct Wrong : Tiled<T> {
  static __device__ bool visible(const Problem<T>& p, int query, int key) {
    return Tiled<T>::visible(p, query, key) || key >= p.keys;
  }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, padding_key_counted)
