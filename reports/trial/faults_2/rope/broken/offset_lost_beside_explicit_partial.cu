// SPDX-License-Identifier: Apache-2.0
// FAULT: with explicit positions and a rotation of only some channels the offset is not added.
// Kind: combinations
// Shows: explicit positions, rotary_dim < head_dim and offset > 0.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, offset_lost_beside_explicit_partial) {

template <class T>
struct Steps : Plain<T> {
  static void change(Problem<T>& p) {
    if (p.positions != nullptr && p.rotary < p.dim / 2 * 2) p.offset = 0;
  }
};
KERNEL_FROM(rope, plain, Steps);

}  // namespace assay::ROOM(rope, offset_lost_beside_explicit_partial)
