// SPDX-License-Identifier: Apache-2.0
// Tests conversions on all 16-bit patterns, and against the compiler's own conversions on hashed values.
#include "ops/core/dtype.hpp"

#include "catch_shim.hpp"

using namespace assay;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// SplitMix64.
std::uint64_t hashed(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

std::uint16_t encoded(DType t, double v) {
  std::uint64_t room = 0;  // holds the widest dtype
  encode(t, &room, 0, v);
  return static_cast<std::uint16_t>(room);
}
double decoded(DType t, std::uint16_t bits) { return decode(t, &bits, 0); }

// A finite value of a 16-bit format from its bits; unlike dtype.hpp it uses ldexp.
double by_ldexp(std::uint16_t b, int mantissa_bits, int bias) {
  const int m = b & ((1 << mantissa_bits) - 1), e = b >> mantissa_bits & ((1 << (15 - mantissa_bits)) - 1);
  const double v = e ? std::ldexp((1 << mantissa_bits) + m, e - bias - mantissa_bits) : std::ldexp(m, 1 - bias - mantissa_bits);
  return b & 0x8000 ? -v : v;
}

// Values at, just above and just below ties of the format, for every exponent of the format and beyond.
double probe(std::uint64_t i, int kept_bits, int low_exponent, int high_exponent) {
  const std::uint64_t h = hashed(i);
  const int exponent = low_exponent + static_cast<int>(h % static_cast<std::uint64_t>(high_exponent - low_exponent + 1));
  std::uint64_t mantissa = hashed(i ^ 0xabcdef) >> 12;
  const int cut = 52 - kept_bits;
  switch (h >> 32 & 3) {
    case 0: mantissa = mantissa >> cut << cut; break;                                                        // representable
    case 1: mantissa = mantissa >> cut << cut | std::uint64_t{1} << (cut - 1); break;                        // a tie
    case 2: mantissa = (mantissa >> cut << cut | std::uint64_t{1} << (cut - 1)) + (h >> 40 & 2) - 1; break;  // beside a tie
    default: break;
  }
  const double v = std::ldexp(1.0 + static_cast<double>(mantissa & ((std::uint64_t{1} << 52) - 1)) * 0x1p-52, exponent);
  return h >> 63 ? -v : v;
}

}  // namespace

TEST_CASE("dtype: all 65,536 patterns of f16 and bf16 are decoded to their value and encoded back") {
  struct Format {
    DType dtype;
    int mantissa_bits, bias;
  };
  for (const Format f : {Format{f16, 10, 15}, Format{bf16, 7, 127}}) {
    const std::uint16_t infinity = static_cast<std::uint16_t>(0x7fff >> f.mantissa_bits << f.mantissa_bits);
    std::int64_t wrong = 0, nans = 0;
    for (std::uint32_t b = 0; b < 65536; ++b) {
      const auto bits = static_cast<std::uint16_t>(b);
      const double v = decoded(f.dtype, bits);
      const std::uint16_t magnitude = bits & 0x7fff;
      if (magnitude > infinity) {
        ++nans;
        wrong += !std::isnan(v) || !std::isnan(decoded(f.dtype, encoded(f.dtype, v)));
        continue;
      }
      const double expected = magnitude == infinity ? (bits & 0x8000 ? -kInf : kInf) : by_ldexp(bits, f.mantissa_bits, f.bias);
      wrong += v != expected || std::signbit(v) != ((bits & 0x8000) != 0) || encoded(f.dtype, v) != bits;
    }
    CHECK(wrong == 0);
    CHECK(nans == 2 * ((1 << f.mantissa_bits) - 1));
  }
}

TEST_CASE("dtype: rounding is to the nearest, and to the even one of two") {
  // Every pair of neighbours: just below their middle, at it, just above it.
  for (const DType t : {f16, bf16}) {
    const std::uint16_t infinity = t == f16 ? 0x7c00 : 0x7f80;
    std::int64_t wrong = 0;
    for (std::uint16_t b = 0; b + 1 < infinity; ++b) {
      const double low = decoded(t, b), high = decoded(t, static_cast<std::uint16_t>(b + 1)), middle = (low + high) / 2;
      const std::uint16_t even = b % 2 ? b + 1 : b;
      for (const double sign : {1.0, -1.0}) {
        const std::uint16_t s = sign < 0 ? 0x8000 : 0;
        wrong += encoded(t, sign * std::nextafter(middle, 0)) != (s | b);
        wrong += encoded(t, sign * middle) != (s | even);
        wrong += encoded(t, sign * std::nextafter(middle, kInf)) != (s | (b + 1));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("dtype: from the overflow threshold upwards a value is infinite") {
  CHECK(encoded(f16, 65504) == 0x7bff);
  CHECK(encoded(f16, 65519.99) == 0x7bff);
  CHECK(encoded(f16, std::nextafter(65520.0, 0.0)) == 0x7bff);
  CHECK(encoded(f16, 65520) == 0x7c00);
  CHECK(encoded(f16, -65520) == 0xfc00);
  CHECK(encoded(f16, 1e300) == 0x7c00);
  CHECK(encoded(f16, kInf) == 0x7c00);
  CHECK(encoded(f16, -kInf) == 0xfc00);
  CHECK(encoded(f16, -0.0) == 0x8000);
  CHECK(overflow_threshold(f16) == 65520);
  for (const DType t : {f16, bf16, f32}) {
    const double threshold = overflow_threshold(t);
    CHECK(std::isinf(round_to(t, threshold)));
    CHECK(std::isfinite(round_to(t, std::nextafter(threshold, 0.0))));
    CHECK(round_to(t, -threshold) == -kInf);
  }
  CHECK(overflow_threshold(f32) == 0x1p128 - 0x1p103);
  CHECK(overflow_threshold(bf16) == 0x1p128 - 0x1p119);
  CHECK(overflow_threshold(f64) == kInf);
}

TEST_CASE("dtype: f32 rounding is the hardware's, over a million values") {
  std::int64_t wrong = 0;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    const double v = probe(i, 23, -160, 130);
    float stored = 0;
    encode(f32, &stored, 0, v);
    const auto expected = static_cast<float>(v);
    wrong += std::bit_cast<std::uint32_t>(stored) != std::bit_cast<std::uint32_t>(expected);
    const double rounded = round_to(f32, v);
    wrong += rounded != static_cast<double>(expected) || std::signbit(rounded) != std::signbit(v);
  }
  CHECK(wrong == 0);
}

TEST_CASE("dtype: bf16 rounding is the nearest of the two neighbours, over a million values") {
  std::int64_t wrong = 0;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    const double v = probe(i, 7, -140, 128), magnitude = std::fabs(v);
    // Truncation to the bits above gives the lower neighbour: an f32 rounded towards zero keeps them.
    float f = static_cast<float>(magnitude);
    if (static_cast<double>(f) > magnitude) f = std::nextafter(f, 0.0f);
    const auto low = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(f) >> 16);
    const double below = decoded(bf16, low), above = low == 0x7f7f ? 0x1p128 : decoded(bf16, static_cast<std::uint16_t>(low + 1));
    const double down = magnitude - below, up = above - magnitude;
    const bool upwards = std::isinf(f) || up < down || (up == down && low % 2);
    const auto expected = std::isinf(f) ? std::uint16_t{0x7f80} : static_cast<std::uint16_t>(low + upwards);
    wrong += encoded(bf16, v) != (expected | (v < 0 ? 0x8000 : 0));
  }
  CHECK(wrong == 0);
}

#if defined(__FLT16_MANT_DIG__)
TEST_CASE("dtype: f16 rounding is the compiler's, over two million values") {
  std::int64_t wrong = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    const double v = probe(i, 10, -28, 17);
    wrong += encoded(f16, v) != std::bit_cast<std::uint16_t>(static_cast<_Float16>(v));
  }
  CHECK(wrong == 0);
}
#endif

TEST_CASE("dtype: roundoff, floor and sizes are those of the formats") {
  CHECK(unit_roundoff(f16) == 0x1p-11);
  CHECK(unit_roundoff(bf16) == 0x1p-8);
  CHECK(unit_roundoff(f32) == 0x1p-24);
  CHECK(unit_roundoff(f64) == 0x1p-53);
  CHECK(rounding_floor(f16) == 0x1p-25);
  CHECK(rounding_floor(bf16) == 0x1p-134);
  CHECK(rounding_floor(f32) == 0x1p-150);
  CHECK(rounding_floor(f64) == 0);
  // The floor is half the least subnormal: that value ties to zero, one just above it does not.
  for (const DType t : {f16, bf16, f32}) {
    CHECK(round_to(t, rounding_floor(t)) == 0);
    CHECK(round_to(t, std::nextafter(rounding_floor(t), 1.0)) == 2 * rounding_floor(t));
    CHECK(round_to(t, 1 + unit_roundoff(t)) == 1);
    CHECK(round_to(t, 1 + 3 * unit_roundoff(t)) == 1 + 4 * unit_roundoff(t));
  }
  CHECK(std::isnan(round_to(f16, kNan)));
  CHECK(size_of(f16) == 2);
  CHECK(size_of(i64) == 8);
  CHECK(parse_dtype("bf16") == bf16);
  CHECK_FALSE(parse_dtype("BF16").has_value());
}

TEST_CASE("dtype: elements are read and written at any alignment, and neighbouring bytes stay") {
  for (const DType t : {f16, bf16, f32, f64, i32, i64, e4m3, e5m2, i8}) {
    alignas(16) unsigned char bytes[64];
    for (int offset = 0; offset < 16; ++offset) {
      std::memset(bytes, 0xa5, sizeof bytes);
      encode(t, bytes + offset, 2, -3.0);
      CHECK(decode(t, bytes + offset, 2) == -3.0);
      int touched = 0;
      const int begin = offset + 2 * size_of(t), end = begin + size_of(t);
      for (int b = 0; b < 64; ++b) touched += (b < begin || b >= end) && bytes[b] != 0xa5;
      CHECK(touched == 0);
    }
  }
}

namespace {
// All finite values of a format of 8 bits, with their codes, in order of size; of two zeros the positive one.
std::vector<std::pair<double, int>> finite_values(DType t) {
  std::vector<std::pair<double, int>> values;
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const double value = decode(t, &byte, 0);
    if (std::isfinite(value) && !(value == 0 && std::signbit(value))) values.emplace_back(value, code);
  }
  std::sort(values.begin(), values.end());
  return values;
}
// The nearest of all values, of two the one with an even code, of powers of two the larger; the ends beyond them.
double nearest_of(DType t, const std::vector<std::pair<double, int>>& values, double v) {
  const auto above = std::lower_bound(values.begin(), values.end(), std::pair(v, 0));
  if (above == values.end()) return values.back().first;
  if (above == values.begin() || above->first == v) return above->first;
  const auto below = above - 1;
  const double up = above->first - v, down = v - below->first;
  if (up == down) return above->second % 2 == 0 || t == e8m0 ? above->first : below->first;
  return up < down ? above->first : below->first;
}
}  // namespace

TEST_CASE("dtype: a value of 8 bits is rounded to the nearest of all codes, ties to even, and saturates") {
  for (const DType t : {e4m3, e5m2, e8m0, i8, u8}) {
    const auto values = finite_values(t);
    INFO(name(t));
    std::vector<double> tried;
    for (std::size_t k = 0; k + 1 < values.size(); ++k) {
      const double middle = (values[k].first + values[k + 1].first) / 2;
      for (const double v : {values[k].first, middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300)})
        tried.push_back(v);
    }
    tried.insert(tried.end(), {values.back().first, 1.01 * values.back().first, 1e40, 1e300});
    int wrong = 0;
    for (const double v : tried) {
      if (t == e8m0 && v <= 0) continue;
      std::uint8_t byte = 0;
      encode(t, &byte, 0, v);
      const double expected = nearest_of(t, values, v);
      wrong += decode(t, &byte, 0) != expected || round_to(t, v) != expected;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("dtype: every code of 8 bits is read and written as itself, and NaN has a code") {
  for (const DType t : {e4m3, e5m2, e8m0, i8, u8}) {
    INFO(name(t));
    int wrong = 0, nans = 0;
    for (int code = 0; code < 256; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      const double value = decode(t, &byte, 0);
      nans += std::isnan(value);
      if (!std::isfinite(value)) continue;
      std::uint8_t written = 0;
      encode(t, &written, 0, value);
      wrong += written != byte;
    }
    CHECK(wrong == 0);
    CHECK(nans == (t == e4m3 ? 2 : t == e5m2 ? 6 : t == e8m0 ? 1 : 0));
    std::uint8_t byte = 0;
    encode(t, &byte, 0, kNan);
    CHECK((std::isnan(decode(t, &byte, 0)) || byte == 0));
  }
  const std::uint8_t infinities[] = {0x7c, 0xfc};
  CHECK(decode(e5m2, infinities, 0) == kInf);
  CHECK(decode(e5m2, infinities, 1) == -kInf);
}

TEST_CASE("dtype: the limits of the formats of 8 bits are those of their sources") {
  CHECK(largest(info(e4m3).format) == 448);
  CHECK(largest(info(e5m2).format) == 57344);
  CHECK(largest(info(e8m0).format) == 0x1p127);
  CHECK(round_to(e4m3, -kInf) == -448);
  CHECK(round_to(e5m2, kInf) == 57344);
  CHECK(std::isnan(round_to(info(e4m3).format, 465)));
  CHECK(round_to(info(e4m3).format, 463) == 448);
  CHECK(round_to(info(e5m2).format, 61440) == kInf);
  CHECK(round_to(e8m0, 0) == 0x1p-127);
  CHECK(std::isnan(round_to(e8m0, -1)));
  CHECK(round_to(i8, 127.5) == 127);
  CHECK(round_to(i8, -0.5) == 0);
  CHECK(round_to(u8, -3) == 0);
  CHECK(unit_roundoff(i8) == 0);
  CHECK(rounding_floor(i8) == 0.5);
  CHECK(std::isinf(overflow_threshold(e4m3)));
}

TEST_CASE("dtype: DLPack's code and bits name each dtype, and no other") {
  for (std::size_t k = 0; k < kDTypes.size(); ++k) {
    const auto t = static_cast<DType>(k);
    CHECK(dtype_of_dlpack(info(t).dlpack, 8 * size_of(t)) == t);
  }
  CHECK_FALSE(dtype_of_dlpack(0, 16).has_value());
}
