// SPDX-License-Identifier: Apache-2.0
// Start indices of packed sequences.  Lengths are random shares of all tokens, so every token belongs to a sequence; shares of
// queries and of keys are independent, so some sequences have only queries or only keys.
#pragma once

#include <algorithm>
#include <cstdint>

#include "validate/values/draws.hpp"

namespace assay::packed_fills {

using namespace draws;

inline bool packed(const FillSite& s) {
  if (!s.attributes) return false;
  const auto at = s.attributes->find("packed");
  return at != s.attributes->end() && at->second != 0;
}
// Queries and keys, as attention has them, have lengths of their own.
inline bool of_queries(const FillSite& s) { return s.holds->axis == Axis::seq_q; }
inline std::int64_t sequences(const FillSite& s) { return s.shape[0] - 1; }
inline std::int64_t tokens(const FillSite& s) { return sequences(s) * s.dims[s.holds->axis]; }

// The relative length of sequence b.
using Share = std::int64_t(const FillSite&, std::int64_t b);
// One sequence in four is empty.
inline std::int64_t ragged(const FillSite& s, std::int64_t b) {
  const std::uint64_t drawn = random::bits(random::key(s.seed, of_queries(s) ? 97 : 98, Purpose::size), at(b));
  return drawn % 4 == 0 ? 0 : 1 + static_cast<std::int64_t>((drawn >> 8) % 31);
}
inline std::int64_t equal(const FillSite&, std::int64_t) { return 1; }
// The first and the last sequence are empty, and of more than four the middle one.
inline std::int64_t some_empty(const FillSite& s, std::int64_t b) {
  const std::int64_t batch = sequences(s);
  return b == 0 || b == batch - 1 || (batch > 4 && b == batch / 2) ? 0 : 1;
}
inline std::int64_t one_has_all(const FillSite& s, std::int64_t b) { return b == sequences(s) / 2 ? 1 : 0; }
// Of every three sequences one has no queries and the next no keys.
inline std::int64_t one_side_empty(const FillSite& s, std::int64_t b) { return b % 3 == (of_queries(s) ? 0 : 1) ? 0 : 1 + b % 2; }

template <Share* share>
std::int64_t starts(const FillSite& s, std::int64_t sequence) {
  std::int64_t before = 0, all = 0;
  for (std::int64_t b = 0; b < sequences(s); ++b) {
    all += share(s, b);
    before += b < sequence ? share(s, b) : 0;
  }
  if (all == 0) return sequence < sequences(s) ? 0 : tokens(s);
  return tokens(s) / all * before + tokens(s) % all * before / all;
}

// Lengths of one and two tiles of 64, one less and one more, while tokens last; the last sequence has the rest.
inline std::int64_t tile_starts(const FillSite& s, std::int64_t sequence) {
  std::int64_t start = 0;
  for (std::int64_t b = 0; b < sequence; ++b) {
    const std::int64_t n = of_queries(s) ? b + 1 : b;
    start += 64 * (1 + n % 2) + n % 3 - 1;
  }
  return sequence < sequences(s) ? std::min(start, tokens(s)) : tokens(s);
}

// The place of a row of q in its sequence, and the sequence's rows of k.  Assumes that packed sequences start at starts<ragged>.
struct Place {
  std::int64_t query, queries, first_key, keys;
};
inline Place place(const FillSite& s, std::int64_t row) {
  const std::int64_t queries = s.dims[Axis::seq_q], keys = s.dims[Axis::seq_k];
  if (!packed(s)) return {row % queries, queries, row / queries * keys, keys};
  static constexpr Contents kQueries = starts_of(Axis::seq_q), kKeys = starts_of(Axis::seq_k);
  const std::int64_t shape[] = {s.dims[Axis::batch] + 1};
  FillSite q = s, k = s;
  q.shape = k.shape = shape;
  q.holds = &kQueries;
  k.holds = &kKeys;
  std::int64_t b = 0;
  while (starts<ragged>(q, b + 1) <= row) ++b;
  const std::int64_t query = starts<ragged>(q, b), key = starts<ragged>(k, b);
  return {row - query, starts<ragged>(q, b + 1) - query, key, starts<ragged>(k, b + 1) - key};
}

}  // namespace assay::packed_fills
