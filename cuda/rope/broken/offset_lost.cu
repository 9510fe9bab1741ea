// SPDX-License-Identifier: Apache-2.0
// FAULT: explicit position ids win, and the offset is added to none of them.
// Caught by: the comparison with explicit positions and an offset.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, offset_lost) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) {
    if (p.positions != nullptr) p.offset = 0;
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, offset_lost)
