// SPDX-License-Identifier: Apache-2.0
// FAULT: explicit positions replace the offset, and are not added to it.
// Kind: combinations
// Shows: explicit positions together with an offset.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, offset_lost_with_positions) {

template <class T>
struct Replaced : Plain<T> {
  static void change(Problem<T>& p) {
    if (p.positions != nullptr) p.offset = 0;
  }
};
KERNEL_FROM(rope, plain, Replaced);

}  // namespace assay::ROOM(rope, offset_lost_with_positions)
