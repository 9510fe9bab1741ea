// SPDX-License-Identifier: Apache-2.0
// FAULT: the exponent of two is kept with 16 bits after the point, as a fixed-point exp has it: 2^-17.5 of each term,
// undeclared.
// Kind: precision
// Caught by: the bound, with fill=spread_200 (bf16).
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, exponent_of_16_fraction_bits) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ float exponential(float v) { return exp2f(rintf(v * 94548.1997f) * 0x1p-16f); }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, bf16});

}  // namespace assay::ROOM(softmax, exponent_of_16_fraction_bits)
