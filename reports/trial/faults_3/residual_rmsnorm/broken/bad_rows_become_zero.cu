// SPDX-License-Identifier: Apache-2.0
// FAULT: an inverse root that is not a number becomes zero, so a row with a NaN is zero where it is finite.
// Kind: ranges
// Shows: rows of s with a NaN.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, bad_rows_become_zero) {

template <class T>
struct Guarded : Plain<T> {
  static __device__ float handed_out(float r) { return r == r ? r : 0.0f; }
};
KERNEL_FROM(residual_rmsnorm, plain, Guarded);

}  // namespace assay::ROOM(residual_rmsnorm, bad_rows_become_zero)
