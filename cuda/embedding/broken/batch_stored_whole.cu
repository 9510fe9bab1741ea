// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread stores its whole batch, also what lies beyond the end of the row and was never read.
// Kind: memory
// Caught by: out_of_bounds, with tokens=131 hidden=259 vocab=67 (f16).
#include "cuda/embedding/broken/batch.cuh"

namespace assay::ROOM(embedding, batch_stored_whole) {

template <class T>
struct Wrong : Batch<T> {
  __device__ static bool stored(int, std::int64_t) { return true; }
};
KERNEL_FROM(embedding, batch, Wrong);

}  // namespace assay::ROOM(embedding, batch_stored_whole)
