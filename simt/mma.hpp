// SPDX-License-Identifier: Apache-2.0
// The arithmetic of tensor cores on the operands of one warp's mma.  Mma::hopper and Mma::ampere give the bits of the hardware.
// The products and c are aligned to the largest exponent E among them, at least kLeastExponent.  Each is truncated to F bits
// below 2^E, they are added as integers, and the sum is truncated to float.  A product's exponent is the sum of its factors'
// exponents; its significand is not normalised and is below 4.  A product of zero takes no part.  A subnormal has the least
// exponent of its format.  Sums from 2^128 on are infinite, and every NaN is 0x7fffffff.  Hopper has F = 25 and adds all of k in
// one step; Ampere has F = 24 and adds 8 products a step.
#pragma once

#include <cstdint>

#include "machine.hpp"

namespace simt::detail {

inline constexpr int kMmaRows = 16, kMmaColumns = 8;
// The least E: bits below 2^(kLeastExponent - F) are lost.  Note: found on Hopper; that Ampere has the same is an assumption.
inline constexpr int kLeastExponent = -133;

// Words of two 16-bit values: the lower k in the low half.
template <int K>
struct MmaTile {
  alignas(32) std::uint32_t a[kMmaRows][K / 2];
  alignas(32) std::uint32_t b[K / 2][kMmaColumns];
  alignas(32) float c[kMmaRows][kMmaColumns];
};

// c += a·b, by the rule `how`.
template <bool Half, int K>
void multiply(MmaTile<K>& tile, Mma how);
// The same in plain integer code, one term after another; hopper or ampere.
template <bool Half, int K>
void multiply_plainly(MmaTile<K>& tile, Mma how);
// The same with AVX2.  Returns false and changes nothing if an infinity or NaN is an operand or an intermediate, or without AVX2.
template <bool Half, int K>
bool multiply_in_vectors(MmaTile<K>& tile, Mma how);

// c[rows][columns] += a[rows][8] b[columns][8] of tf32, as Hopper does.
void multiply_tf32(const std::uint32_t* a, const std::uint32_t* b, float* c, int rows, int columns);

// Rounds to float toward zero; magnitudes from 2^128 on become infinite, and zero is +0.
float truncate(double v);

}  // namespace simt::detail
