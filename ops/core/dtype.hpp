// SPDX-License-Identifier: Apache-2.0
// Element types: size, rounding, conversion from f64 (one rounding) and to f64 (exact).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace assay {

enum class DType : std::uint8_t { f16, bf16, f32, f64, i32, i64 };

inline constexpr DType f16 = DType::f16;
inline constexpr DType bf16 = DType::bf16;
inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;
inline constexpr DType i32 = DType::i32;
inline constexpr DType i64 = DType::i64;

// A binary floating-point format (IEEE 754-2019, section 3.3).
struct FloatFormat {
  int precision;     // significand bits, the hidden one included
  int max_exponent;  // of the largest finite value
  int min_exponent;  // of the smallest normal value
  constexpr bool operator==(const FloatFormat&) const = default;
};

struct DTypeInfo {
  std::string_view name;
  int bytes;
  FloatFormat format;  // precision 0: an integer
};

inline constexpr std::array<DTypeInfo, 6> kDTypes{{
    {"f16", 2, {11, 15, -14}},
    {"bf16", 2, {8, 127, -126}},
    {"f32", 4, {24, 127, -126}},
    {"f64", 8, {53, 1023, -1022}},
    {"i32", 4, {0, 0, 0}},
    {"i64", 8, {0, 0, 0}},
}};

constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<std::size_t>(t)]; }
constexpr std::string_view name(DType t) { return info(t).name; }
constexpr int size_of(DType t) { return info(t).bytes; }
constexpr bool is_float(DType t) { return info(t).format.precision > 0; }

constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i)
    if (kDTypes[i].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

namespace detail {
// 2^e for the exponent e of a normal f64.
constexpr double exp2i(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); }
}  // namespace detail

// Half an ulp at 1: the largest relative error of one rounding to nearest.
constexpr double unit_roundoff(DType t) { return detail::exp2i(-info(t).format.precision); }
// Half the smallest subnormal: the largest absolute error of one rounding near zero.
constexpr double rounding_floor(DType t) {
  const FloatFormat f = info(t).format;
  return t == f64 ? 0.0 : detail::exp2i(f.min_exponent - f.precision);
}
// From here upwards a value rounds to infinity: the largest finite value plus half its ulp.
constexpr double overflow_threshold(DType t) {
  const FloatFormat f = info(t).format;
  return t == f64 ? std::numeric_limits<double>::infinity() : detail::exp2i(f.max_exponent) * (2.0 - detail::exp2i(-f.precision));
}

// Rounds to the nearest value of a format, ties to even, with IEEE 754 subnormals and overflow.
inline double round_to(FloatFormat f, double v) {
  if (f.precision >= 53 || v == 0.0 || !std::isfinite(v)) return v;
  if (f == info(f32).format) return static_cast<double>(static_cast<float>(v));
  const double threshold = detail::exp2i(f.max_exponent) * (2.0 - detail::exp2i(-f.precision));
  if (std::fabs(v) >= threshold) return std::copysign(std::numeric_limits<double>::infinity(), v);
  const int e = static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52 & 0x7ff) - 1023;
  const int exponent = e < f.min_exponent ? f.min_exponent : e;
  // Adding and subtracting 1.5·2^52 quanta rounds at the quantum in the hardware's mode: to nearest, ties to even.
  const double anchor = detail::exp2i(exponent - f.precision + 1 + 52) * 1.5;
  return std::copysign((v + anchor) - anchor, v);
}
inline double round_to(DType t, double v) { return is_float(t) ? round_to(info(t).format, v) : v; }

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
  }
  return 0;
}

// Writes v as element i, rounded once to nearest even.  Any alignment.
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
    case DType::i32: detail::store(p, i, static_cast<std::int32_t>(v)); break;
    case DType::i64: detail::store(p, i, static_cast<std::int64_t>(v)); break;
  }
}

}  // namespace assay
