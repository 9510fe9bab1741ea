// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "simt_testing.hpp"

namespace {

using namespace simt::device;

bool is_nan(half h) { return (h.bits & 0x7fffu) > 0x7c00u; }
bool is_nan(bfloat16 b) { return (b.bits & 0x7fffu) > 0x7f80u; }

// The value by the definition of the format, in double, which holds every value and every midpoint exactly.
double value(std::uint16_t bits, int fraction_bits, int exponent_bits) {
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

}  // namespace

TEST_CASE("every half and bfloat16 widens to the value of its bits", "[simt]") {
  unsigned wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const half h{bits};
    const bfloat16 b{bits};
    if (is_nan(h)) wrong += !std::isnan(to_float(h)) + !std::isnan(widen(h));
    else
      wrong += (to_float(h) != value(bits, 10, 5)) + (widen(h) != value(bits, 10, 5)) + (std::signbit(to_float(h)) != (i >> 15));
    wrong += std::bit_cast<std::uint32_t>(to_float(h)) != std::bit_cast<std::uint32_t>(widen(h));
    if (is_nan(b)) wrong += !std::isnan(to_float(b));
    else wrong += to_float(b) != value(bits, 7, 8);
  }
  CHECK(wrong == 0);
}

TEST_CASE("every half and bfloat16 survives the conversion to float and back", "[simt]") {
  unsigned wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const half h{static_cast<std::uint16_t>(i)};
    const bfloat16 b{static_cast<std::uint16_t>(i)};
    const half h_back = from_float<half>(to_float(h));
    const bfloat16 b_back = from_float<bfloat16>(to_float(b));
    wrong += is_nan(h) ? h_back.bits != (i | 0x200u) : h_back.bits != i;
    wrong += is_nan(b) ? b_back.bits != (i | 0x40u) : b_back.bits != i;
  }
  CHECK(wrong == 0);
}

TEST_CASE("narrowing rounds to nearest, ties to even: at, below and above every midpoint", "[simt]") {
  unsigned wrong = 0;
  for (unsigned i = 0; i < 0x7c00; ++i) {  // from each to the next; the one after the largest stands for infinity
    const double low = value(static_cast<std::uint16_t>(i), 10, 5);
    const double high = i == 0x7bff ? 65536.0 : value(static_cast<std::uint16_t>(i + 1), 10, 5);
    const auto middle = static_cast<float>((low + high) / 2);
    const unsigned even = i & 1 ? i + 1 : i;
    for (const float sign : {1.0f, -1.0f})
      for (const auto& [v, want] :
           {std::pair{std::nextafterf(middle, 0.0f), i}, {middle, even}, {std::nextafterf(middle, INFINITY), i + 1}}) {
        const unsigned expected = want | (sign < 0 ? 0x8000u : 0u);
        wrong += from_float<half>(sign * v).bits != expected;
        wrong += narrow_to_half(sign * v).bits != expected;
      }
  }
  for (unsigned i = 0; i < 0x7f80; ++i) {
    const auto middle = std::bit_cast<float>(i << 16 | 0x8000u);
    const unsigned even = i & 1 ? i + 1 : i;
    wrong += from_float<bfloat16>(std::nextafterf(middle, 0.0f)).bits != i;
    wrong += from_float<bfloat16>(middle).bits != even;
    wrong += from_float<bfloat16>(-std::nextafterf(middle, INFINITY)).bits != (0x8000u | (i + 1));
  }
  CHECK(wrong == 0);
}

TEST_CASE("the integer narrowing agrees with the instruction over the whole range of floats", "[simt]") {
  unsigned wrong = 0;
  for (std::uint64_t u = 0; u < (1ull << 32); u += 257) {
    const float v = std::bit_cast<float>(static_cast<std::uint32_t>(u));
    wrong += narrow_to_half(v).bits != from_float<half>(v).bits;
    wrong += std::isnan(v) && !(is_nan(from_float<half>(v)) && is_nan(from_float<bfloat16>(v)));
  }
  CHECK(wrong == 0);
}

TEST_CASE("a NaN whose payload lies in the dropped bits stays a NaN", "[simt]") {
  const float v = std::bit_cast<float>(0x7f800001u);
  CHECK(is_nan(from_float<half>(v)));
  CHECK(is_nan(narrow_to_half(v)));
  CHECK(is_nan(from_float<bfloat16>(v)));
}
