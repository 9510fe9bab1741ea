// SPDX-License-Identifier: Apache-2.0
// The exact arithmetic of mma.hpp, eight columns at a time.  Terms are magnitudes below 2^27 in units of 2^(E - F).  One
// multiply-add of 16-bit lanes multiplies two magnitudes, and one variable shift aligns the product.
#include "mma.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace simt::detail {

#if defined(__AVX2__)
namespace {

using Ints = __m256i;

template <bool Half>
struct Format {
  static constexpr int kFraction = Half ? 10 : 7, kBias = Half ? 15 : 127;
};

Ints all(int v) { return _mm256_set1_epi32(v); }
Ints load(const void* p) { return _mm256_load_si256(static_cast<const Ints*>(p)); }
void store(void* p, Ints v) { _mm256_store_si256(static_cast<Ints*>(p), v); }
Ints broadcast(const std::int32_t* p) { return all(*p); }

// Eight values, one a lane.  Zeros have an exponent so low that it never is the largest.
struct Decoded {
  Ints exponent, magnitude, sign;  // sign: in the top bit
};
template <bool Half>
Decoded decode(Ints bits, int shift, Ints& special) {
  using F = Format<Half>;
  const Ints field = _mm256_and_si256(_mm256_srli_epi32(bits, F::kFraction), all(2 * F::kBias + 1));
  const Ints fraction = _mm256_and_si256(bits, all((1 << F::kFraction) - 1));
  const Ints normal = _mm256_cmpgt_epi32(field, _mm256_setzero_si256());
  const Ints magnitude = _mm256_or_si256(fraction, _mm256_and_si256(normal, all(1 << F::kFraction)));
  const Ints zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
  const Ints exponent = _mm256_sub_epi32(_mm256_max_epi32(field, all(1)), all(F::kBias));
  special = _mm256_or_si256(special, _mm256_cmpeq_epi32(field, all(2 * F::kBias + 1)));
  return {_mm256_blendv_epi8(exponent, all(-100000), zero), _mm256_slli_epi32(magnitude, shift),
          _mm256_and_si256(_mm256_slli_epi32(bits, 16), all(static_cast<int>(0x80000000u)))};
}

// Four sums even + odd, in units of 2^(exponent - F), truncated to float.
__m128 to_float(__m128i even, __m128i odd, __m128i exponent, int kept_bits) {
  const __m256d sum = _mm256_add_pd(_mm256_cvtepi32_pd(even), _mm256_cvtepi32_pd(odd));
  const Ints biased = _mm256_add_epi64(_mm256_cvtepi32_epi64(exponent), _mm256_set1_epi64x(1023 - kept_bits));
  const __m256d v = _mm256_mul_pd(sum, _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52)));
  // The leading 24 bits, which a float holds unless it is subnormal.
  const __m256d kept = _mm256_and_pd(v, _mm256_castsi256_pd(_mm256_set1_epi64x(-(std::int64_t{1} << 29))));
  const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), v);
  const __m256d subnormal = _mm256_and_pd(_mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ),
                                          _mm256_cmp_pd(magnitude, _mm256_setzero_pd(), _CMP_NEQ_OQ));
  if (_mm256_movemask_pd(subnormal) == 0) [[likely]]
    return _mm256_cvtpd_ps(kept);
  alignas(32) double each[4];
  _mm256_store_pd(each, v);
  return _mm_setr_ps(truncate(each[0]), truncate(each[1]), truncate(each[2]), truncate(each[3]));
}

// Adds `Terms` products a step, with F = kKeptBits.  Returns false as multiply_in_vectors does.
template <bool Half, int K, int Terms, int kKeptBits>
bool run(MmaTile<K>& tile) {
  // A product has 2 kFraction fraction bits.  The shift to F is split between the factors, so that both stay below 2^15.
  constexpr int kShift = kKeptBits - 2 * Format<Half>::kFraction, kShiftA = kShift / 2, kShiftB = kShift - kShiftA;
  Ints special = _mm256_setzero_si256();
  const Ints low_half = all(0xffff);

  // [0] has the even k, [1] the odd.  The low bit of each sign of b is set, since _mm256_sign_epi32 gives 0 for a zero sign.
  Decoded b[2][K / 2];
  for (int i = 0; i < K / 2; ++i) {
    const Ints words = load(tile.b[i]);
    b[0][i] = decode<Half>(_mm256_and_si256(words, low_half), kShiftB, special);
    b[1][i] = decode<Half>(_mm256_srli_epi32(words, 16), kShiftB, special);
    for (auto& of : b) of[i].sign = _mm256_or_si256(of[i].sign, all(1));
  }
  // a is decoded into the order of the tile's words.
  constexpr int kWords = kMmaRows * K / 2;
  struct alignas(32) {
    std::int32_t exponent[kWords], magnitude[kWords], sign[kWords];
  } a[2];
  for (int i = 0; i < kWords; i += 8) {
    const Ints words = load(&tile.a[0][0] + i);
    for (int odd = 0; odd < 2; ++odd) {
      const Decoded d =
          decode<Half>(odd == 0 ? _mm256_and_si256(words, low_half) : _mm256_srli_epi32(words, 16), kShiftA, special);
      store(a[odd].exponent + i, d.exponent);
      store(a[odd].magnitude + i, d.magnitude);
      store(a[odd].sign + i, d.sign);
    }
  }
  if (_mm256_movemask_epi8(special) != 0) return false;

  alignas(32) float result[kMmaRows][kMmaColumns];
  for (int m = 0; m < kMmaRows; ++m) {
    Ints c = load(tile.c[m]);
    for (int first = 0; first < K / 2; first += Terms / 2) {
      const Ints field = _mm256_and_si256(_mm256_srli_epi32(c, 23), all(255));
      special = _mm256_or_si256(special, _mm256_cmpeq_epi32(field, all(255)));
      const Ints c_exponent = _mm256_sub_epi32(_mm256_max_epi32(field, all(1)), all(127));
      const Ints c_zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(c, 1), _mm256_setzero_si256());
      const auto exponent = [&](int odd, int i) {
        return _mm256_add_epi32(b[odd][i].exponent, broadcast(a[odd].exponent + m * K / 2 + i));
      };
      Ints largest = _mm256_blendv_epi8(c_exponent, all(kLeastExponent), c_zero);
#pragma GCC unroll 8
      for (int i = first; i < first + Terms / 2; ++i)
        largest = _mm256_max_epi32(largest, _mm256_max_epi32(exponent(0, i), exponent(1, i)));

      const auto term = [&](int odd, int i) {
        const int at = m * K / 2 + i;
        const Ints product = _mm256_madd_epi16(broadcast(a[odd].magnitude + at), b[odd][i].magnitude);
        const Ints kept = _mm256_srlv_epi32(product, _mm256_sub_epi32(largest, exponent(odd, i)));
        return _mm256_sign_epi32(kept, _mm256_xor_si256(broadcast(a[odd].sign + at), b[odd][i].sign));
      };
      const Ints normal = _mm256_cmpgt_epi32(field, _mm256_setzero_si256());
      const Ints significand = _mm256_or_si256(_mm256_and_si256(c, all(0x7fffff)), _mm256_and_si256(normal, all(0x800000)));
      const Ints c_kept =
          _mm256_srlv_epi32(_mm256_slli_epi32(significand, kKeptBits - 23), _mm256_sub_epi32(largest, c_exponent));
      // Each sum has at most 9 terms below 2^27, so neither overflows.
      Ints even = _mm256_sign_epi32(c_kept, _mm256_or_si256(c, all(1))), odd = _mm256_setzero_si256();
#pragma GCC unroll 8
      for (int i = first; i < first + Terms / 2; ++i) {
        even = _mm256_add_epi32(even, term(0, i));
        odd = _mm256_add_epi32(odd, term(1, i));
      }
      const __m128 low =
          to_float(_mm256_castsi256_si128(even), _mm256_castsi256_si128(odd), _mm256_castsi256_si128(largest), kKeptBits);
      const __m128 high = to_float(_mm256_extracti128_si256(even, 1), _mm256_extracti128_si256(odd, 1),
                                   _mm256_extracti128_si256(largest, 1), kKeptBits);
      c = _mm256_castps_si256(_mm256_set_m128(high, low));
    }
    _mm256_store_ps(result[m], _mm256_castsi256_ps(c));
  }
  if (_mm256_movemask_epi8(special) != 0) return false;
  __builtin_memcpy(tile.c, result, sizeof result);
  return true;
}

}  // namespace

template <bool Half, int K>
bool multiply_in_vectors(MmaTile<K>& tile, Mma how) {
  return how == Mma::hopper ? run<Half, K, K, 25>(tile) : run<Half, K, 8, 24>(tile);
}

#else

template <bool Half, int K>
bool multiply_in_vectors(MmaTile<K>&, Mma) {
  return false;
}

#endif

template bool multiply_in_vectors<true, 16>(MmaTile<16>&, Mma);
template bool multiply_in_vectors<true, 8>(MmaTile<8>&, Mma);
template bool multiply_in_vectors<false, 16>(MmaTile<16>&, Mma);
template bool multiply_in_vectors<false, 8>(MmaTile<8>&, Mma);

}  // namespace simt::detail
