// SPDX-License-Identifier: Apache-2.0
// FAULT: the reciprocal root is the 12-bit estimate that Newton's step should have refined.
// Kind: precision
// Caught by: the bound, with rows=1 cols=255 (f16).
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, root_of_12_bits) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float handed_out(float r) { return of_12_bits(r); }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(residual_rmsnorm, root_of_12_bits)
