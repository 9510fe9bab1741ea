// SPDX-License-Identifier: Apache-2.0
// FAULT: h is kept with 16 significant bits from |h| = 1 on, as a packed pair of it would have; all of h in f32 is declared.
// Kind: precision
// Shows: f32, units with |h| > 1 that are no short numbers.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, units_of_16_bits_beyond_one) {

template <class T>
struct Parked : Plain<T> {
  __device__ float unit(float sum, float bias) const {
    const float h = this->activated(sum + bias);
    const bool narrow = fabsf(h) > 1.0f && fabsf(h) < 1e30f;
    return narrow ? __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, h) + 0x80u) & ~0xffu) : h;
  }
};

KERNEL_FROM(ffn_gelu, plain, Parked);

}  // namespace assay::ROOM(ffn_gelu, units_of_16_bits_beyond_one)
