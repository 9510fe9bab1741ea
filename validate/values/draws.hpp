// SPDX-License-Identifier: Apache-2.0
// Random numbers for fills (random.hpp), from streams of the tensor that is filled or from streams shared by all tensors.
#pragma once

#include <bit>
#include <limits>

#include "validate/values/fill.hpp"
#include "validate/values/random.hpp"

namespace assay::draws {

using random::Purpose;

constexpr std::uint64_t at(std::int64_t i) { return static_cast<std::uint64_t>(i); }

inline std::uint64_t key(const FillSite& s, Purpose p) { return random::key(s.seed, at(s.tensor_index), p); }
// The key of a stream that all tensors share: that of tensor 0.
inline std::uint64_t shared_key(const FillSite& s, Purpose p) { return random::key(s.seed, 0, p); }

inline double normal(const FillSite& s, std::int64_t i) { return random::normal(key(s, Purpose::value), at(i)); }
inline double uniform(const FillSite& s, std::int64_t i) { return random::uniform(key(s, Purpose::value), at(i)); }
inline double sign(const FillSite& s, std::int64_t i) { return random::sign(key(s, Purpose::sign), at(i)); }
// 0 ... n-1.
inline std::int64_t draw(const FillSite& s, Purpose p, std::int64_t i, std::int64_t n) {
  return random::index(key(s, p), at(i), n);
}
inline double shared_sign(const FillSite& s, std::int64_t i) { return random::sign(shared_key(s, Purpose::sign), at(i)); }

enum class Special { nan, inf, minus_inf };
constexpr double value_of(Special k) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return k == Special::nan ? std::numeric_limits<double>::quiet_NaN() : k == Special::inf ? kInf : -kInf;
}
constexpr double special(std::int64_t kind) { return value_of(static_cast<Special>(kind)); }  // of 0, 1, 2

// Whether the root of n is a power of two, so that dividing by it is exact.
constexpr bool is_power_of_four(std::int64_t n) { return std::has_single_bit(at(n)) && std::countr_zero(at(n)) % 2 == 0; }

// A value for Fill::exact and Fill::applies.
inline bool always(const Dims&, DType) { return true; }

}  // namespace assay::draws
