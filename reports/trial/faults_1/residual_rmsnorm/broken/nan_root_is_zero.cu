// SPDX-License-Identifier: Apache-2.0
// FAULT: a scale that is not finite is replaced by 0, so that a NaN in a row stays with its own element.
// Kind: ranges
// Shows: a NaN in x or residual: the whole row of y must be NaN; a row of zeros with epsilon 0 too.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, nan_root_is_zero) {

template <class T>
struct Guarded : Plain<T> {
  static __device__ float handed_out(float r) { return fabsf(r) < INFINITY ? r : 0.0f; }
};

KERNEL_FROM(residual_rmsnorm, plain, Guarded);

}  // namespace assay::ROOM(residual_rmsnorm, nan_root_is_zero)
