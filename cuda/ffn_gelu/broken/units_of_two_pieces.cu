// SPDX-License-Identifier: Apache-2.0
// FAULT: the units go into the second product as two bf16 pieces where three are needed: 16 bits, and the declaration says f32.
// Kind: precision
// Caught by: the bound, with fill=chosen (f32).
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, units_of_two_pieces) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float unit(float sum, float bias) const {
    const float h = this->activated(sum + bias), first = to_float(from_float<bfloat16>(h));
    return first + to_float(from_float<bfloat16>(h - first));
  }
};
KERNEL_FROM(ffn_gelu, plain, Wrong, {f32});

}  // namespace assay::ROOM(ffn_gelu, units_of_two_pieces)
