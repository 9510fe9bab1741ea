// SPDX-License-Identifier: Apache-2.0
// FAULT: y is the norm of s as it is stored, as Liger computes it, though sum=f32 asks for the norm of the sum before it was
// rounded.  In f32 they agree, so f16 and bf16 only.
// Caught by: the bound of y, on any random fill with sum=f32; it reads like sum=rounded.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, rounded_sum) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool unrounded(bool) { return false; }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(residual_rmsnorm, rounded_sum)
