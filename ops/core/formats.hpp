// SPDX-License-Identifier: Apache-2.0
// Element types: names, sizes, formats and their limits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace assay {

enum class DType : std::uint8_t { f16, bf16, f32, f64, i32, i64, e4m3, e5m2, e8m0, i8, u8 };

inline constexpr DType f16 = DType::f16;
inline constexpr DType bf16 = DType::bf16;
inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;
inline constexpr DType i32 = DType::i32;
inline constexpr DType i64 = DType::i64;
inline constexpr DType e4m3 = DType::e4m3;
inline constexpr DType e5m2 = DType::e5m2;
inline constexpr DType e8m0 = DType::e8m0;
inline constexpr DType i8 = DType::i8;
inline constexpr DType u8 = DType::u8;

// What the highest codes of a floating-point format are.
enum class Top : std::uint8_t {
  infinity,  // infinity, and NaNs above it, as in IEEE 754
  nan        // the highest code alone is NaN; the others are finite
};

// What becomes of values beyond a format's largest.
enum class Overflow : std::uint8_t {
  ieee,      // infinity; NaN in formats that have none
  saturates  // the largest finite value, also of infinity
};

// A binary floating-point format (IEEE 754-2019, section 3.3).
struct FloatFormat {
  int precision;     // significand bits, the hidden one included
  int max_exponent;  // of the largest finite value
  int min_exponent;  // of the smallest normal value
  Top top = Top::infinity;
  constexpr bool operator==(const FloatFormat&) const = default;
};

// Sources of the formats of 8 bits: e4m3 and e5m2, "FP8 Formats for Deep Learning" (Micikevicius et al. 2022), table 1; e8m0,
// "OCP Microscaling Formats" 1.0, section 5.4.1.  Their casts saturate, as those of CUDA's cvt and of PyTorch do.
struct DTypeInfo {
  std::string_view name;
  int bytes;
  FloatFormat format;             // precision 0: an integer
  double least = 0, largest = 0;  // of an integer
  Overflow overflow = Overflow::ieee;
  bool has_sign = true;
  bool has_zero = true;
  std::uint8_t dlpack =
      2;  // DLDataTypeCode of DLPack 1.1: 0 integer, 1 without sign, 2 float, 4 bfloat, and one for each 8-bit float
};

inline constexpr FloatFormat kWhole{0, 0, 0};
inline constexpr std::array<DTypeInfo, 11> kDTypes{{
    {.name = "f16", .bytes = 2, .format = {11, 15, -14}},
    {.name = "bf16", .bytes = 2, .format = {8, 127, -126}, .dlpack = 4},
    {.name = "f32", .bytes = 4, .format = {24, 127, -126}},
    {.name = "f64", .bytes = 8, .format = {53, 1023, -1022}},
    {.name = "i32", .bytes = 4, .format = kWhole, .least = -0x1p31, .largest = 0x1p31 - 1, .dlpack = 0},
    {.name = "i64", .bytes = 8, .format = kWhole, .least = -0x1p63, .largest = 0x1p63 - 1024, .dlpack = 0},
    {.name = "e4m3", .bytes = 1, .format = {4, 8, -6, Top::nan}, .overflow = Overflow::saturates, .dlpack = 10},
    {.name = "e5m2", .bytes = 1, .format = {3, 15, -14}, .overflow = Overflow::saturates, .dlpack = 12},
    {.name = "e8m0",
     .bytes = 1,
     .format = {1, 127, -127, Top::nan},
     .overflow = Overflow::saturates,
     .has_sign = false,
     .has_zero = false,
     .dlpack = 14},
    {.name = "i8", .bytes = 1, .format = kWhole, .least = -128, .largest = 127, .dlpack = 0},
    {.name = "u8", .bytes = 1, .format = kWhole, .least = 0, .largest = 255, .has_sign = false, .dlpack = 1},
}};

constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<std::size_t>(t)]; }
constexpr std::string_view name(DType t) { return info(t).name; }
constexpr int size_of(DType t) { return info(t).bytes; }
constexpr bool is_float(DType t) { return info(t).format.precision > 0; }
// Whether it is for places and counts, which a contract explains (TensorOptions::holds), and not for numbers.
constexpr bool is_index(DType t) { return t == DType::i32 || t == DType::i64; }

constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i)
    if (kDTypes[i].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

// That of DLPack's code and number of bits.
constexpr std::optional<DType> dtype_of_dlpack(int code, int bits) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i)
    if (kDTypes[i].dlpack == code && 8 * kDTypes[i].bytes == bits) return static_cast<DType>(i);
  return std::nullopt;
}

namespace detail {
// 2^e for the exponent e of a normal f64.
constexpr double exp2i(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); }
}  // namespace detail

// The largest finite value.
constexpr double largest(FloatFormat f) {
  // Note: the format of scales has one significand bit, so its NaN takes a binade of its own, beyond max_exponent.
  const int lost = f.top == Top::nan && f.precision > 1 ? 2 : 1;
  return detail::exp2i(f.max_exponent) * (2.0 - lost * detail::exp2i(1 - f.precision));
}
// Half an ulp at 1: the largest relative error of one rounding to nearest; 0 of an integer.
constexpr double unit_roundoff(DType t) { return is_float(t) ? detail::exp2i(-info(t).format.precision) : 0.0; }
// The largest absolute error of one rounding near zero: half the smallest subnormal, or half of 1.
constexpr double rounding_floor(DType t) {
  const FloatFormat f = info(t).format;
  if (!info(t).has_zero) return detail::exp2i(f.min_exponent);
  return t == f64 ? 0.0 : is_float(t) ? detail::exp2i(f.min_exponent - f.precision) : 0.5;
}
// From here upwards a value rounds to infinity: the largest finite value plus half its ulp.  Infinite where casts saturate.
constexpr double overflow_threshold(DType t) {
  const FloatFormat f = info(t).format;
  if (t == f64 || info(t).overflow == Overflow::saturates) return std::numeric_limits<double>::infinity();
  return detail::exp2i(f.max_exponent) * (2.0 - detail::exp2i(-f.precision));
}

}  // namespace assay
