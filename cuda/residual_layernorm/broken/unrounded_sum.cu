// SPDX-License-Identifier: Apache-2.0
// FAULT: y is made of the sum in f32, not of s as it is stored: statistics and elements that no reader of s can have.  In f32
// they are the same, so f16 and bf16 only.
// Caught by: the bound of y, on any random fill, plainly where the mean is large beside the deviation (large_mean).
#include "cuda/residual_layernorm/broken/plain.cuh"

namespace assay::ROOM(residual_layernorm, unrounded_sum) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float normed(float x, float residual) { return x + residual; }
};
KERNEL_FROM(residual_layernorm, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(residual_layernorm, unrounded_sum)
