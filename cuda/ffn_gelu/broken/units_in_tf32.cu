// SPDX-License-Identifier: Apache-2.0
// FAULT: the units go into the second product with the 11 bits of TF32, and the declaration says f32.
// Kind: precision
// Caught by: unknown
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, units_in_tf32) {

template <class T>
struct Wrong : Plain<T> {
  __device__ float unit(float sum, float bias) const {
    const unsigned bits = __builtin_bit_cast(unsigned, this->activated(sum + bias));
    return __builtin_bit_cast(float, (bits + 0x1000u) & ~0x1fffu);
  }
};
KERNEL_FROM(ffn_gelu, plain, Wrong, {f32});

}  // namespace assay::ROOM(ffn_gelu, units_in_tf32)
