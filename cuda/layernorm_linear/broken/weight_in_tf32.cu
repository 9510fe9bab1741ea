// SPDX-License-Identifier: Apache-2.0
// FAULT: the weight has the 11 bits of TF32 while the normalised row keeps f32's, and the declaration says f32 for both.
// Kind: precision
// Caught by: the bound, with tokens=1 hidden=2 out=1 (f32).
#include "cuda/layernorm_linear/broken/plain.cuh"

namespace assay::ROOM(layernorm_linear, weight_in_tf32) {

template <class T>
struct Wrong : Formula<T> {
  template <class S>
  static __device__ float product(const Plain<T>& p, std::int64_t token, std::int64_t o, float mean, float r) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) {
      const float factor = p.factor(o, h);  // Note: nvcc 13 fails on a bit cast of the call itself
      const unsigned bits = __builtin_bit_cast(unsigned, factor);
      const float w = __builtin_bit_cast(float, (bits + 0x1000u) & ~0x1fffu);
      sum = fmaf(S::normalised(p, h, p.at(token, h) - mean, r), w, sum);
    }
    return sum;
  }
};
KERNEL_FROM(layernorm_linear, plain, Wrong, {f32});

}  // namespace assay::ROOM(layernorm_linear, weight_in_tf32)
