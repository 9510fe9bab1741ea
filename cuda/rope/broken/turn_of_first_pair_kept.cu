// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread keeps the rotation of its first pair for the pairs that it takes after it: heads of more pairs than the block
// has threads.
// Kind: range
// Caught by: the comparison, with batch=2 seq_q=5 heads=6 kv_heads=3 head_dim=100 (f16).
#include "cuda/rope/broken/kept.cuh"

namespace assay::ROOM(rope, turn_of_first_pair_kept) {

template <class T>
struct Wrong : Kept<T> {
  __device__ static Rotation turn(const Rotation* turns, int i, const Rotation& kept, bool first) {
    return first ? ld(turns + i) : kept;
  }
};
KERNEL_FROM(rope, kept, Wrong);

}  // namespace assay::ROOM(rope, turn_of_first_pair_kept)
