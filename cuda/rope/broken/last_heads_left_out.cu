// SPDX-License-Identifier: Apache-2.0
// FAULT: heads are rotated in batches of four, and what remains after the whole batches is left out.
// Kind: range
// Caught by: the comparison, with batch=2 seq_q=5 heads=6 kv_heads=3 head_dim=100 (f16).
#include "cuda/rope/broken/kept.cuh"

namespace assay::ROOM(rope, last_heads_left_out) {

template <class T>
struct Wrong : Kept<T> {
  __device__ static int rotated_heads(const Problem<T>& p) { return p.heads() / kHeadsAtOnce * kHeadsAtOnce; }
};
KERNEL_FROM(rope, kept, Wrong);

}  // namespace assay::ROOM(rope, last_heads_left_out)
