// SPDX-License-Identifier: Apache-2.0
// FAULT: a thread of the join takes one part, so that parts beyond the threads of its block are dropped: rows of more than 8192
// columns.
// Kind: range
// Caught by: the comparison, with rows=1 cols=8193 (f16).
#include "cuda/row_reduce/broken/parts.cuh"

namespace assay::ROOM(row_reduce, parts_beyond_threads) {

template <class T>
struct Wrong : Parts<T> {
  template <class Fold>
  __device__ static Fold joined(const Fold* results, int parts) {
    Fold f;
    if (const int p = static_cast<int>(threadIdx.x); p < parts) f.join(ld(results + p));
    return f;
  }
};
KERNEL_FROM(row_reduce, parts, Wrong);

}  // namespace assay::ROOM(row_reduce, parts_beyond_threads)
