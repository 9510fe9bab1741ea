// SPDX-License-Identifier: Apache-2.0
// FAULT: the path that works in place takes positions from 0, without the offset.
// Caught by: the bound, in a pair of in_place and offset (f32).
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, offset_lost_in_place) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) {
    if (p.q.x == p.q.y) p.offset = 0;
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, offset_lost_in_place)
