// SPDX-License-Identifier: Apache-2.0
// Element types (formats.hpp): rounding, conversion from f64 (one rounding) and to f64 (exact).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ops/core/formats.hpp"

namespace assay {

// Rounds to the nearest value of a format, ties to even, with IEEE 754 subnormals.
inline double round_to(FloatFormat f, double v, Overflow overflow = Overflow::ieee) {
  if (f.precision >= 53 || v == 0.0 || std::isnan(v)) return v;
  if (f == info(f32).format) return static_cast<double>(static_cast<float>(v));
  const double most = largest(f), ulp = detail::exp2i(f.max_exponent - f.precision + 1);
  if (std::fabs(v) >= most + ulp / 2) {
    const bool is_nan = overflow == Overflow::ieee && f.top == Top::nan;
    const double beyond = is_nan                            ? std::numeric_limits<double>::quiet_NaN()
                          : overflow == Overflow::saturates ? most
                                                            : std::numeric_limits<double>::infinity();
    return std::copysign(beyond, v);
  }
  const int e = static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52 & 0x7ff) - 1023;
  const int exponent = e < f.min_exponent ? f.min_exponent : e;
  // Adding and subtracting 1.5·2^52 quanta rounds at the quantum in the hardware's mode: to nearest, ties to even.
  const double anchor = detail::exp2i(exponent - f.precision + 1 + 52) * 1.5;
  return std::copysign((v + anchor) - anchor, v);
}
// The same to a dtype: an integer's nearest one, ties to even, within its range (NaN: 0).  A dtype without zero has its least
// value in place of it, and one without sign NaN in place of what is negative.
inline double round_to(DType t, double v) {
  const DTypeInfo& to = info(t);
  if (!is_float(t)) return std::isnan(v) ? 0.0 : std::fmin(std::fmax(std::nearbyint(v), to.least), to.largest);
  const double rounded = round_to(to.format, v, to.overflow);
  if (!to.has_sign && rounded < 0) return std::numeric_limits<double>::quiet_NaN();
  return to.has_zero || std::isnan(rounded) ? rounded : std::fmax(rounded, detail::exp2i(to.format.min_exponent));
}

namespace detail {
inline std::uint16_t f16_bits(double v) {
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return sign | 0x7e00;
  const double r = std::fabs(round_to(info(f16).format, v));
  if (std::isinf(r)) return sign | 0x7c00;
  if (r < exp2i(-14)) return sign | static_cast<std::uint16_t>(r * exp2i(24));
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(r);
  const int e = static_cast<int>(bits >> 52) - 1023;
  return sign | static_cast<std::uint16_t>((e + 15) << 10 | (bits >> 42 & 0x3ff));
}
inline double f16_value(std::uint16_t b) {
  const double sign = b & 0x8000 ? -1.0 : 1.0;
  const int e = b >> 10 & 0x1f, m = b & 0x3ff;
  if (e == 31) return m ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (e == 0) return sign * m * exp2i(-24);
  return sign * (1024 + m) * exp2i(e - 25);
}
// The value of a code of 8 bits.
constexpr float value_of_code(DType t, unsigned code) {
  const FloatFormat f = info(t).format;
  if (!info(t).has_sign)
    return code == 0xff ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(exp2i(static_cast<int>(code) - 127));
  const unsigned mantissa_bits = static_cast<unsigned>(f.precision - 1), magnitude = code & 0x7f;
  const unsigned mantissa = magnitude & ((1u << mantissa_bits) - 1), exponent = magnitude >> mantissa_bits;
  const double quantum = exp2i((exponent == 0 ? 1 : static_cast<int>(exponent)) + f.min_exponent - f.precision);
  const double value = (mantissa + (exponent == 0 ? 0u : 1u << mantissa_bits)) * quantum;
  const float signed_one = code & 0x80 ? -1.0f : 1.0f;
  if (value <= largest(f)) return signed_one * static_cast<float>(value);
  return f.top == Top::infinity && mantissa == 0 ? signed_one * std::numeric_limits<float>::infinity()
                                                 : std::numeric_limits<float>::quiet_NaN();
}
template <DType kType>
constexpr std::array<float, 256> values_of_codes() {
  std::array<float, 256> values{};
  for (unsigned code = 0; code < 256; ++code) values[code] = value_of_code(kType, code);
  return values;
}
inline constexpr std::array<float, 256> kE4m3Values = values_of_codes<DType::e4m3>();
inline constexpr std::array<float, 256> kE5m2Values = values_of_codes<DType::e5m2>();
inline constexpr std::array<float, 256> kE8m0Values = values_of_codes<DType::e8m0>();

// The code of a value of 8 bits, or of NaN.
inline std::uint8_t code_of_value(DType t, double r) {
  const FloatFormat f = info(t).format;
  if (!info(t).has_sign) return std::isnan(r) ? 0xff : static_cast<std::uint8_t>(std::ilogb(r) + 127);
  const std::uint8_t sign = std::signbit(r) ? 0x80 : 0;
  if (std::isnan(r)) return sign | 0x7f;
  const double size = std::fabs(r), least_normal = exp2i(f.min_exponent);
  if (std::isinf(r)) return sign | 0x7c;  // of e5m2
  if (size < least_normal) return sign | static_cast<std::uint8_t>(size * exp2i(f.precision - 1 - f.min_exponent));
  const int e = std::ilogb(size), hidden = 1 << (f.precision - 1);
  const int significand = static_cast<int>(size * exp2i(f.precision - 1 - e));
  return sign | static_cast<std::uint8_t>((e - f.min_exponent + 1) * hidden + significand - hidden);
}
template <class T>
T load(const void* p, std::int64_t i) {
  T v;
  std::memcpy(&v, static_cast<const char*>(p) + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return v;
}
template <class T>
void store(void* p, std::int64_t i, T v) {
  std::memcpy(static_cast<char*>(p) + i * static_cast<std::int64_t>(sizeof(T)), &v, sizeof(T));
}
}  // namespace detail

// Element i of an array as f64, which is exact.  Any alignment.
inline double decode(DType t, const void* p, std::int64_t i) {
  switch (t) {
    case DType::f16: return detail::f16_value(detail::load<std::uint16_t>(p, i));
    case DType::bf16: return std::bit_cast<float>(static_cast<std::uint32_t>(detail::load<std::uint16_t>(p, i)) << 16);
    case DType::f32: return detail::load<float>(p, i);
    case DType::f64: return detail::load<double>(p, i);
    case DType::i32: return detail::load<std::int32_t>(p, i);
    case DType::i64: return static_cast<double>(detail::load<std::int64_t>(p, i));
    case DType::e4m3: return detail::kE4m3Values[detail::load<std::uint8_t>(p, i)];
    case DType::e5m2: return detail::kE5m2Values[detail::load<std::uint8_t>(p, i)];
    case DType::e8m0: return detail::kE8m0Values[detail::load<std::uint8_t>(p, i)];
    case DType::i8: return detail::load<std::int8_t>(p, i);
    case DType::u8: return detail::load<std::uint8_t>(p, i);
  }
  return 0;
}

// Writes v as element i, rounded once (round_to).  Any alignment.
inline void encode(DType t, void* p, std::int64_t i, double v) {
  switch (t) {
    case DType::f16: detail::store(p, i, detail::f16_bits(v)); break;
    case DType::bf16:
      detail::store(p, i,
                    static_cast<std::uint16_t>(
                        std::isnan(v) ? 0x7fc0 : std::bit_cast<std::uint32_t>(static_cast<float>(round_to(bf16, v))) >> 16));
      break;
    case DType::f32: detail::store(p, i, static_cast<float>(v)); break;
    case DType::f64: detail::store(p, i, v); break;
    case DType::i32: detail::store(p, i, static_cast<std::int32_t>(round_to(t, v))); break;
    case DType::i64: detail::store(p, i, static_cast<std::int64_t>(round_to(t, v))); break;
    case DType::e4m3:
    case DType::e5m2:
    case DType::e8m0: detail::store(p, i, detail::code_of_value(t, round_to(t, v))); break;
    case DType::i8: detail::store(p, i, static_cast<std::int8_t>(round_to(t, v))); break;
    case DType::u8: detail::store(p, i, static_cast<std::uint8_t>(round_to(t, v))); break;
  }
}

}  // namespace assay
