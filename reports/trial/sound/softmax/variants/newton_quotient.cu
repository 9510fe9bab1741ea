// SPDX-License-Identifier: Apache-2.0
// A row a block, each term divided by a reciprocal from the divisor's bits and two steps of Newton: over all 2^23 fractions it
// errs
// by 111.2 units of 2^-24 at most, and a power of two scales it exactly.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, newton_quotient) {

template <class T>
struct Newton : Plain<T> {
  static __device__ float quotient(float term, const Sum& by) {
    float r = __builtin_bit_cast(float, 0x7ef311c7u - __builtin_bit_cast(unsigned, by.sum));
    for (int step = 0; step < 2; ++step) r = r * fmaf(-by.sum, r, 2.0f);
    return term * r;
  }
};
KERNEL_DECLARING(softmax, plain, Newton,
                 (Numerics{.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 10}, .quotient_error = 112}));

}  // namespace assay::ROOM(softmax, newton_quotient)
