// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums of the warps are joined by shuffles that reach over one warp only: what the other warps have is lost.
// Right for up to 32 columns.
// Caught by: the bound on any longer row.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, first_warp_only) {

template <class T>
struct Wrong : Plain<T> {
  template <class Fold>
  __device__ static Fold join(const Fold& f) {
    return fold::join_warp(f);
  }
};
KERNEL_FROM(row_reduce, plain, Wrong);

}  // namespace assay::ROOM(row_reduce, first_warp_only)
