// SPDX-License-Identifier: Apache-2.0
// FAULT: after a batch the output moves on by what the block took, but the row of the table by what a warp took.
// Kind: range
// Caught by: the comparison, with tokens=131 hidden=259 vocab=67 (f16).
#include "cuda/embedding/broken/batch.cuh"

namespace assay::ROOM(embedding, batch_moved_by_a_warp) {

template <class T>
struct Wrong : Batch<T> {
  static constexpr int kStep = kInFlight * kWarp;
};
KERNEL_FROM(embedding, batch, Wrong);

}  // namespace assay::ROOM(embedding, batch_moved_by_a_warp)
