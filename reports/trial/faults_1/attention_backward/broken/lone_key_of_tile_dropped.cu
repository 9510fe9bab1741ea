// SPDX-License-Identifier: Apache-2.0
// FAULT: the keys that a query goes through for dQ are counted in tiles of 32 as (n + 30) / 32, so the last one is lost where
// it stands alone in its tile.
// Kind: offsets
// Shows: a query that sees 1, 33, 65, ... keys.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, lone_key_of_tile_dropped) {

template <class T>
struct Tiles : Plain<T> {
  static __device__ int keys(const Problem<T>& p, int query) {
    const int visible = p.visible(query), tiled = (visible + 30) / 32 * 32;
    return tiled < visible ? tiled : visible;
  }
};

KERNEL_FROM(attention_backward, plain, Tiles);

}  // namespace assay::ROOM(attention_backward, lone_key_of_tile_dropped)
