// SPDX-License-Identifier: Apache-2.0
// Functions of one argument: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh.  With a rounding modifier they are rounded once.  The
// .approx forms are those of the special function unit; sin, cos and tanh are modelled as the C library's (docs/ptx.md).
#include <cmath>

#include "decode.hpp"
#include "numbers.hpp"
#include "special.hpp"

namespace simt::ptx {

namespace {

constexpr auto kReciprocal = [](auto v) { return decltype(v)(1) / v; };
constexpr auto kRoot = [](auto v) { return std::sqrt(v); };
constexpr auto kSine = [](float v) { return std::sin(v); };
constexpr auto kCosine = [](float v) { return std::cos(v); };
constexpr auto kTangent = [](float v) { return std::tanh(v); };

template <auto F, bool Ftz>
constexpr Run kSingle =
    op1<[](float v) { return canonical(Ftz ? flush(static_cast<float>(F(flush(v)))) : static_cast<float>(F(v))); }, float, float>;
// Without .ftz a subnormal argument, and one whose result may be subnormal, is scaled.
bool subnormal(float v) { return std::fabs(v) < 0x1p-126f; }
constexpr auto kFullReciprocal = [](float v) {
  if (subnormal(v)) return detail::special_reciprocal(v * 0x1p24f) * 0x1p24f;
  if (std::fabs(v) >= 0x1p126f && std::fabs(v) < HUGE_VALF) return detail::special_reciprocal(v * 0.25f) * 0.25f;
  return detail::special_reciprocal(v);
};
constexpr auto kFullReciprocalRoot = [](float v) {
  return subnormal(v) ? detail::special_reciprocal_root(v * 0x1p24f) * 0x1p12f : detail::special_reciprocal_root(v);
};
constexpr auto kFullRoot = [](float v) {
  return subnormal(v) ? detail::special_root(v * 0x1p24f) * 0x1p-12f : detail::special_root(v);
};
constexpr auto kFullPower = [](float v) {
  const float half = detail::special_power(v < -126 ? v * 0.5f : v);
  return v < -126 ? half * half : half;
};
constexpr auto kFullLogarithm = [](float v) {
  return subnormal(v) ? detail::special_logarithm(v * 0x1p24f) - 24 : detail::special_logarithm(v);
};
#if defined(__AVX2__)
// interpolated<17>() >> 17 of eight fractions.
__m256i interpolated_in_vectors(const detail::Segment* segments, __m256i fraction) {
  const auto all = [](int v) { return _mm256_set1_epi32(v); };
  const __m256i x = _mm256_and_si256(fraction, all((1 << 17) - 1));
  __m256i square = all(0);
#pragma GCC unroll 8
  for (int i = 10; i < 17; ++i) {
    const __m256i low = _mm256_srli_epi32(_mm256_and_si256(x, all((1 << i) - 1)), 18 - i);
    const __m256i bit = _mm256_srai_epi32(_mm256_slli_epi32(x, 31 - i), 31);
    square = _mm256_add_epi32(square, _mm256_and_si256(bit, _mm256_add_epi32(low, all(1 << (2 * i - 19)))));
  }
  // The segments of lanes i and i + 4 side by side, and then their four words apart.  Note: a gather takes each word by itself.
  alignas(32) std::uint32_t at[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(at), _mm256_srli_epi32(fraction, 17));
  const auto pair = [&](int i) {
    const auto one = [&](int k) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(segments + at[k])); };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(one(i)), one(i + 4), 1);
  };
  const __m256i p0 = pair(0), p1 = pair(1), p2 = pair(2), p3 = pair(3);
  const __m256i lows = _mm256_unpacklo_epi32(p0, p1), more_lows = _mm256_unpacklo_epi32(p2, p3);
  const __m256i highs = _mm256_unpackhi_epi32(p0, p1), more_highs = _mm256_unpackhi_epi32(p2, p3);
  const __m256i low = _mm256_unpacklo_epi64(lows, more_lows), high = _mm256_unpackhi_epi64(lows, more_lows);
  const __m256i c1 = _mm256_unpacklo_epi64(highs, more_highs), c2 = _mm256_unpackhi_epi64(highs, more_highs);
  const auto odd = [](__m256i v) { return _mm256_srli_epi64(v, 32); };
  const auto sum = [](__m256i c0, __m256i a, __m256i b, __m256i c, __m256i d) {
    return _mm256_srli_epi64(_mm256_add_epi64(c0, _mm256_add_epi64(_mm256_mul_epi32(a, b), _mm256_mul_epi32(c, d))), 17);
  };
  const __m256i even = sum(_mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xaa), c1, x, c2, square);
  const __m256i other = sum(_mm256_blend_epi32(odd(low), high, 0xaa), odd(c1), odd(x), odd(c2), odd(square));
  return _mm256_blend_epi32(even, _mm256_slli_epi64(other, 32), 0xaa);
}

// power_argument() of eight floats.
__m256i power_arguments(__m256 v) {
  const __m256 inside =
      _mm256_and_ps(_mm256_cmp_ps(v, _mm256_set1_ps(-127), _CMP_GT_OQ), _mm256_cmp_ps(v, _mm256_set1_ps(128), _CMP_LT_OQ));
  const __m256i cut = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_and_ps(v, inside), _mm256_set1_ps(0x1p23f)));
  const __m256i whole = _mm256_cmpeq_epi32(_mm256_and_si256(cut, _mm256_set1_epi32(0x7fffff)), _mm256_setzero_si256());
  return _mm256_add_epi32(cut, _mm256_andnot_si256(whole, _mm256_srai_epi32(cut, 31)));
}

// ex2.approx.ftz.f32 of a warp.
void power(Warp& w, const Op& o) {
  const auto* a = w.at<float>(o.a);
  alignas(32) std::int32_t n[kLanes];
  alignas(32) std::uint32_t y[kLanes];
  for (unsigned i = 0; i < kLanes; i += 8) {
    const __m256i argument = power_arguments(_mm256_loadu_ps(a + i));
    _mm256_store_si256(reinterpret_cast<__m256i*>(n + i), argument);
    if ((w.mask >> i & 255) == 0) continue;
    _mm256_store_si256(reinterpret_cast<__m256i*>(y + i),
                       interpolated_in_vectors(detail::kPower, _mm256_and_si256(argument, _mm256_set1_epi32(0x7fffff))));
  }
  for_lanes(w, w.at<float>(o.d), [&](unsigned i) { return detail::power_result(a[i], n[i], y[i]); });
}
#else
constexpr Run power = op1<[](float v) { return detail::special_power(v); }, float, float>;
#endif

template <auto F>
constexpr Run kSpecial = op1<[](float v) { return F(v); }, float, float>;

Run special(std::string_view base, bool ftz) {
  using namespace detail;
  if (base == "rcp") return ftz ? kSpecial<special_reciprocal> : kSpecial<kFullReciprocal>;
  if (base == "rsqrt") return ftz ? kSpecial<special_reciprocal_root> : kSpecial<kFullReciprocalRoot>;
  if (base == "sqrt") return ftz ? kSpecial<special_root> : kSpecial<kFullRoot>;
  if (base == "ex2") return ftz ? power : kSpecial<kFullPower>;
  return base == "lg2" ? (ftz ? kSpecial<special_logarithm> : kSpecial<kFullLogarithm>) : nullptr;
}

template <auto F>
constexpr Run kDouble = op1<[](double v) { return F(v); }, double, double>;

template <auto F>
Run single(bool ftz) {
  return ftz ? kSingle<F, true> : kSingle<F, false>;
}

template <Run Inner>
[[gnu::noinline]] void apart(Warp& w, const Op& o) {
  Inner(w, o);
}
template <Run Inner, Round Mode>
void directed(Warp& w, const Op& o) {
  const Rounding rounds(Mode);
  apart<Inner>(w, o);
}
template <Run Inner>
Run rounding(int mode) {
  return mode == 1   ? directed<Inner, Round::zero>
         : mode == 2 ? directed<Inner, Round::down>
         : mode == 3 ? directed<Inner, Round::up>
                     : Inner;
}

}  // namespace

void decode_approximate(Decoder& d) {
  const Type t = d.take_type();
  const bool approx = d.take("approx"), ftz = d.take("ftz");
  const int mode = d.take_one({"rn", "rz", "rm", "rp"});
  if (t != Type::f32 && !(t == Type::f64 && !approx)) d.refuse("is not run for this type");
  if (t == Type::f64) {
    if (d.base == "rcp") d.op.run = rounding<kDouble<kReciprocal>>(mode);
    else if (d.base == "sqrt") d.op.run = rounding<kDouble<kRoot>>(mode);
  } else if (const Run run = approx ? special(d.base, ftz) : nullptr) {
    d.op.run = run;
  } else if (d.base == "rcp") {
    d.op.run = ftz ? rounding<kSingle<kReciprocal, true>>(mode) : rounding<kSingle<kReciprocal, false>>(mode);
  } else if (d.base == "sqrt") {
    d.op.run = ftz ? rounding<kSingle<kRoot, true>>(mode) : rounding<kSingle<kRoot, false>>(mode);
  } else if (approx) {
    d.op.run = d.base == "sin" ? single<kSine>(ftz) : d.base == "cos" ? single<kCosine>(ftz) : single<kTangent>(ftz);
  }
  if (d.op.run == nullptr) d.refuse("is not run in this form");
  d.operands(2);
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.emit();
}

}  // namespace simt::ptx
