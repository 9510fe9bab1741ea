// SPDX-License-Identifier: Apache-2.0
// FAULT: the launch that joins the parts begins early and never waits for the launch that computes them.
// Kind: memory
// Caught by: early_read, with rows=131 cols=259 (f16).
#include "cuda/row_reduce/broken/parts.cuh"

namespace assay::ROOM(row_reduce, parts_read_early) {

template <class T>
struct Wrong : Parts<T> {
  __device__ static void wait() {}
};
KERNEL_FROM(row_reduce, parts, Wrong);

}  // namespace assay::ROOM(row_reduce, parts_read_early)
