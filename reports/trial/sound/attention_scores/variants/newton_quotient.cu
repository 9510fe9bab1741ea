// SPDX-License-Identifier: Apache-2.0
// A query a warp, each term divided by a reciprocal from the divisor's bits and two steps of Newton: over all 2^23 fractions it
// errs
// by 111.2 units of 2^-24 at most, and a power of two scales it exactly.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, newton_quotient) {

template <class T>
struct Newton : Plain<T> {
  static __device__ float probability(float term, float sum) {
    float r = __builtin_bit_cast(float, 0x7ef311c7u - __builtin_bit_cast(unsigned, sum));
    for (int step = 0; step < 2; ++step) r = r * fmaf(-sum, r, 2.0f);
    return term * r;
  }
};
KERNEL_DECLARING(attention_scores, plain, Newton, (Numerics{.accumulate = f32, .chain = {.lanes = 1}, .quotient_error = 112}));

}  // namespace assay::ROOM(attention_scores, newton_quotient)
