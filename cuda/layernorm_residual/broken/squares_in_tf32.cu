// SPDX-License-Identifier: Apache-2.0
// FAULT: differences are rounded to the 11 bits of TF32 before they are squared, as where tensor cores sum the squares.
// Kind: precision
// Caught by: the bound, with rows=1 cols=2 (f32).
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, squares_in_tf32) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float added_square(float sum, float d) {
    const float rounded = __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, d) + 0x1000u) & ~0x1fffu);
    return fmaf(rounded, rounded, sum);
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong, {f32});

}  // namespace assay::ROOM(layernorm_residual, squares_in_tf32)
