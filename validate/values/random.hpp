// SPDX-License-Identifier: Apache-2.0
// A counter-based random generator.  It has no state, so any element of any tensor can be made alone, in any order and by any
// thread; it uses integer arithmetic and exact scaling, so the bits are the same on every machine.  The mixing function is the
// SplitMix64 finaliser (Steele, Lea, Flood, OOPSLA 2014, variant 13 of Stafford).
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace assay::random {

inline constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// The use of a stream of numbers: different purposes of one tensor have different streams.
enum class Purpose : std::uint64_t { value, sign, exponent, kind, row, column, tensor, size, seed, layout };

constexpr std::uint64_t key(std::uint64_t seed, std::uint64_t tensor, Purpose purpose) {
  const std::uint64_t a = mix(seed + kGamma);
  const std::uint64_t b = mix((a ^ tensor) + kGamma);
  return mix((b ^ static_cast<std::uint64_t>(purpose)) + kGamma);
}

// Hash of a text: FNV-1a, then mixed.
constexpr std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return mix(h);
}

constexpr std::uint64_t bits(std::uint64_t key, std::uint64_t counter) { return mix(key + (counter + 1) * kGamma); }

// [0, 1) in steps of 2^-53: mean 1/2 - 2^-54, variance 1/12.
constexpr double uniform(std::uint64_t key, std::uint64_t counter) {
  return static_cast<double>(bits(key, counter) >> 11) * 0x1p-53;
}

// 0 ... n-1, n > 0.  The bias is below n / 2^64.
constexpr std::int64_t index(std::uint64_t key, std::uint64_t counter, std::int64_t n) {
  return static_cast<std::int64_t>(bits(key, counter) % static_cast<std::uint64_t>(n));
}

// True with probability 1 / n.
constexpr bool one_in(std::uint64_t key, std::uint64_t counter, std::int64_t n) { return index(key, counter, n) == 0; }

constexpr double sign(std::uint64_t key, std::uint64_t counter) { return bits(key, counter) >> 63 ? -1.0 : 1.0; }

// The sum of the eight bytes of x.
constexpr std::uint64_t byte_sum(std::uint64_t x) {
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ff;
  return ((x & kEven) + (x >> 8 & kEven)) * 0x0001000100010001 >> 48;
}

// Nearly N(0, 1): twelve 8-bit uniform lanes summed (Irwin-Hall), 32 fine bits below them so that the mantissa is full,
// minus the mean, times 2^-8; every step exact.  Mean 0, variance (65535 + 1/12) / 65536 = 1 - 1.4e-5, skewness 0,
// kurtosis 2.9, |x| < 6.
constexpr double normal(std::uint64_t key, std::uint64_t counter) {
  const std::uint64_t a = bits(key, 2 * counter), b = bits(key, 2 * counter + 1);
  const std::uint64_t lanes = byte_sum(a) + byte_sum(b >> 32), fine = b & 0xffffffff;
  constexpr std::int64_t kTwiceMean = (12ll * 255 << 32) + 0xffffffff;
  const std::int64_t twice = static_cast<std::int64_t>((lanes << 32 | fine) << 1);
  return static_cast<double>(twice - kTwiceMean) * 0x1p-41;
}

// 2^e for -1022 <= e <= 1023, exactly.
constexpr double power_of_two(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); }

}  // namespace assay::random
