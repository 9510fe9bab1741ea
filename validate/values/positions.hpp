// SPDX-License-Identifier: Apache-2.0
// Positions of tokens in their sequences.
#pragma once

#include <cstdint>
#include <iterator>

#include "validate/values/draws.hpp"

namespace assay::positions {

// Unordered, with gaps; one position in four is 0, 1 or large.
inline std::int64_t gaps(const FillSite& s, std::int64_t i) {
  static constexpr std::int64_t kPlaces[] = {0, 1, 4095, 131071, 1 << 20};
  if (draws::draw(s, random::Purpose::kind, i, 4)) return draws::draw(s, random::Purpose::value, i, 8192);
  return kPlaces[draws::draw(s, random::Purpose::exponent, i, std::size(kPlaces))];
}
// In order up to half of the sequence, from 0 in every other one and from 1 in the rest; then as above.
inline std::int64_t half_in_order(const FillSite& s, std::int64_t i) {
  const std::int64_t length = s.shape.back(), sequence = i / length, at = i % length;
  return at < (length + 1) / 2 ? at + sequence % 2 : gaps(s, i);
}
inline std::int64_t start(const FillSite&, std::int64_t) { return 0; }
// Leaves room for an offset: no position exceeds 2^24.
inline std::int64_t far(const FillSite& s, std::int64_t i) {
  static constexpr std::int64_t kPlaces[] = {131071, 131072, 1 << 20, (1 << 20) + 1, (1 << 24) - (1 << 17) - 1, 999983};
  return kPlaces[draws::draw(s, random::Purpose::value, i, std::size(kPlaces))];
}

}  // namespace assay::positions
