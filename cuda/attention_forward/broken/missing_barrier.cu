// SPDX-License-Identifier: Apache-2.0
// FAULT: the next tile is written without waiting for the threads that still read this one.
// Caught by: two runs that differ, or the bound, with more than one tile, where the order of threads brings it out (simt does).
#include "cuda/attention_forward/broken/tiled.cuh"

namespace assay::ROOM(attention_forward, missing_barrier) {

template <class T>
struct Wrong : Tiled<T> {
  static constexpr int kTile = 64;  // two warps: one may run ahead
  static __device__ void release() {}
};
KERNEL_FROM(attention_forward, tiled, Wrong);

}  // namespace assay::ROOM(attention_forward, missing_barrier)
