// SPDX-License-Identifier: Apache-2.0
// The plain kernel, the sigmoid's quotient by a reciprocal from the divisor's bits and two steps of Newton: over all 2^23
// fractions
// it errs by 111.2 units of 2^-24 at most; the product with a numerator that was rounded is one more.
#include "cuda/gemm_swiglu/broken/plain.cuh"

namespace assay::ROOM(gemm_swiglu, newton_quotient) {

template <class T>
struct Newton : Plain<T> {
  __device__ static float reciprocal(float d) {
    float r = __builtin_bit_cast(float, 0x7ef311c7u - __builtin_bit_cast(unsigned, d));
    for (int step = 0; step < 2; ++step) r = r * fmaf(-d, r, 2.0f);
    return r;
  }
  __device__ static float value(const Operands<T>&, float gate, float up, std::int64_t /*f*/) {
    const float t = expf(-fabsf(gate));
    return (gate < 0.0f ? gate * t : gate) * reciprocal(1.0f + t) * up;
  }
};
KERNEL_DECLARING(gemm_swiglu, plain, Newton, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .quotient_error = 113}));

}  // namespace assay::ROOM(gemm_swiglu, newton_quotient)
