// SPDX-License-Identifier: Apache-2.0
// FAULT: each tile's weights are relative to its own maximum, and what was summed before is not rescaled where that is smaller.
// Caught by: the bound with more than one tile, plainly where scores fall; right with up to 32 keys.
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, maximum_of_last_tile) {

template <class T>
struct Wrong : Tiled<T> {
  static __device__ float maximum_before(float) { return -INFINITY; }
  static __device__ float shrink(float max, float base) { return expf(fminf(max - base, 0.0f)); }
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, maximum_of_last_tile)
