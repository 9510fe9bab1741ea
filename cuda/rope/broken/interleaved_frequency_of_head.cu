// SPDX-License-Identifier: Apache-2.0
// FAULT: the interleaved layout spreads the frequencies over head_dim: right in the other layout, and where all of the head
// turns.
// Kind: combination
// Caught by: the bound, with batch=1 seq_q=9 heads=5 kv_heads=5 head_dim=36 layout_of_pairs=interleaved rotary_dim=20 (f16).
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, interleaved_frequency_of_head) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) {
    if (p.interleaved) p.step = p.step * p.rotary / p.dim;
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, interleaved_frequency_of_head)
