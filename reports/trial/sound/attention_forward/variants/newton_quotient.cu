// SPDX-License-Identifier: Apache-2.0
// A query and 64 channels a thread, its output divided by a reciprocal from the divisor's bits and two steps of Newton: over
// all 2^23
// fractions it errs by 111.2 units of 2^-24 at most, and a power of two scales it exactly.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, newton_quotient) {

template <class T>
struct Newton : Turned<T> {
  static __device__ float output(float o, float sum) {
    if (sum == 0) return 0.0f;
    float r = __builtin_bit_cast(float, 0x7ef311c7u - __builtin_bit_cast(unsigned, sum));
    for (int step = 0; step < 2; ++step) r = r * fmaf(-sum, r, 2.0f);
    return o * r;
  }
};
void run(const attention_forward::Args& a, const Launch& l) { run_plain<Newton>(a, l); }
KERNEL(attention_forward) = [] {
  KernelTraits<attention_forward> declared = plain_traits<Newton>();
  declared.numerics.quotient_error = 112;
  return declared;
}();

}  // namespace assay::ROOM(attention_forward, newton_quotient)
