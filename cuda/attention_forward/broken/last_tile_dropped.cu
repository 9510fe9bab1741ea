// SPDX-License-Identifier: Apache-2.0
// FAULT: the loop takes whole tiles of keys only.
// Caught by: the bound, wherever the keys that a query sees end within a tile; right where they fill it.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, last_tile_dropped) {

template <class T>
struct Wrong : Tiled<T> {
  static __device__ bool has_tile(int first, int keys) { return first + kTiledKeys <= keys; }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, last_tile_dropped)
