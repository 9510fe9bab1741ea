// SPDX-License-Identifier: Apache-2.0
// FAULT: channels from rotary_dim on are left as they are in the output. Right in place, and where all of the head turns.
// Caught by: the comparison with a rotary_dim that is less; two runs on different garbage differ.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, tail_not_copied) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) { p.dim = p.rotary; }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, tail_not_copied)
