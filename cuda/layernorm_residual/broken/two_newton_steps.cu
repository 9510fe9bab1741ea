// SPDX-License-Identifier: Apache-2.0
// FAULT: the reciprocal root by shifting bits and two steps of Newton's where three are needed: 5e-6 too small.
// Kind: precision
// Caught by: the bound, with rows=1 cols=17 (f32).
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, two_newton_steps) {

template <class T>
struct Wrong : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float variance) {
    const float v = variance + m.epsilon;
    float r = __builtin_bit_cast(float, 0x5f3759dfu - (__builtin_bit_cast(unsigned, v) >> 1));
    for (int step = 0; step < 2; ++step) r *= 1.5f - 0.5f * v * r * r;
    return r;
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, two_newton_steps)
