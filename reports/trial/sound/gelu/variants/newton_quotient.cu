// SPDX-License-Identifier: Apache-2.0
// The sigmoid's quotient by a reciprocal from the bits of the divisor and two steps of Newton: over all 2^23 fractions it errs by
// 111.2 units of 2^-24 at most, and a power of two scales it exactly; the product with a numerator that was rounded is one more.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, newton_quotient) {

template <class T>
struct Newton : Plain<T> {
  __device__ static float reciprocal(float d) {
    float r = __builtin_bit_cast(float, 0x7ef311c7u - __builtin_bit_cast(unsigned, d));
    for (int step = 0; step < 2; ++step) r = r * fmaf(-d, r, 2.0f);
    return r;
  }
  __device__ static float gelu(float z, bool erf_form) {
    if (erf_form) return gelu_erf(z);
    constexpr float kLinear = 1.5957691216057308f, kCubic = 0.07135481627260025f;
    const float v = z * fmaf(kCubic, z * z, kLinear), t = expf(-fabsf(v));
    return (v < 0.0f ? z * t : z) * reciprocal(1.0f + t);
  }
};
KERNEL_DECLARING(gelu, plain, Newton, (Numerics{.accumulate = f32, .quotient_error = 113}));

}  // namespace assay::ROOM(gelu, newton_quotient)
