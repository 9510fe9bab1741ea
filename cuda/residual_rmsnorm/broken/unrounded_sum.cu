// SPDX-License-Identifier: Apache-2.0
// FAULT: y is the norm of the sum in f32, as FlashInfer computes it, where sum=rounded asks for the norm of s as it is stored.
// In f32 they agree.
// Caught by: the bound of y, on any random fill with sum=rounded; it reads like sum=f32.
#include "cuda/residual_rmsnorm/broken/plain.cuh"

namespace assay::ROOM(residual_rmsnorm, unrounded_sum) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ bool unrounded(bool) { return true; }
};
KERNEL_FROM(residual_rmsnorm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(residual_rmsnorm, unrounded_sum)
