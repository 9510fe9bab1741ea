// SPDX-License-Identifier: Apache-2.0
// FAULT: explicit positions are read as one list of tokens, whatever the stride of their rows is.
// Kind: layout
// Shows: explicit positions with padded rows and more than one sequence.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, positions_taken_as_dense) {

template <class T>
struct DensePositions : Plain<T> {
  static void change(Problem<T>& p) { p.positions_batch = p.seq; }
};
KERNEL_FROM(rope, plain, DensePositions);

}  // namespace assay::ROOM(rope, positions_taken_as_dense)
