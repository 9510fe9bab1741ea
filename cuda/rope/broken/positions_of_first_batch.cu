// SPDX-License-Identifier: Apache-2.0
// FAULT: every sequence takes the position ids of the first.
// Caught by: the comparison with explicit positions and two sequences.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, positions_of_first_batch) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) { p.positions_batch = 0; }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, positions_of_first_batch)
