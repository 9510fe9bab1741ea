// SPDX-License-Identifier: Apache-2.0
// Page tables and lengths for the ops over a paged cache.  Sequences own equal numbers of pages in shuffled order and share none
// unless a fill says so; table entries beyond a sequence's length are garbage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "validate/values/draws.hpp"

namespace assay::paged_fills {

using namespace draws;

inline std::int64_t owned(const Dims& d) {
  return std::min(d[Axis::max_pages], d[Axis::pages] / std::max<std::int64_t>(1, d[Axis::batch]));
}
inline std::int64_t capacity(const Dims& d) { return owned(d) * d[Axis::page_size]; }
inline std::uint64_t draw(const FillSite& s, Purpose purpose, std::int64_t i) {
  return random::bits(random::key(s.seed, 99, purpose), at(i));
}

// One sequence ends within the last page it owns; the others at or next to a page boundary, at 0, at 1, or anywhere.
inline std::int64_t ragged_length(const FillSite& s, std::int64_t b) {
  const std::int64_t all = capacity(s.dims), size = s.dims[Axis::page_size];
  if (all == 0) return 0;
  const std::uint64_t bits = draw(s, Purpose::size, b);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>((bits >> 8) % static_cast<std::uint64_t>(n)); };
  if (b == static_cast<std::int64_t>(draw(s, Purpose::tensor, 0) % static_cast<std::uint64_t>(s.dims[Axis::batch])))
    return all - below(size);
  switch (bits % 8) {
    case 0: return 0;
    case 1: return 1;
    case 2:
    case 3:
    case 4: return std::clamp<std::int64_t>((1 + below(owned(s.dims))) * size + static_cast<std::int64_t>(bits % 8) - 3, 0, all);
    case 5: return all;
    default: return below(all + 1);
  }
}
inline std::int64_t full_length(const FillSite& s, std::int64_t) { return capacity(s.dims); }
inline std::int64_t few_length(const FillSite& s, std::int64_t b) { return std::min(capacity(s.dims), (b + 1) % 4); }
// The positions of k whole pages, or one less or more.
inline std::int64_t boundary_length(const FillSite& s, std::int64_t b) {
  const auto pages = static_cast<std::uint64_t>(std::max<std::int64_t>(1, owned(s.dims)));
  const auto k = 1 + static_cast<std::int64_t>(draw(s, Purpose::size, b) % pages);
  return std::clamp<std::int64_t>(k * s.dims[Axis::page_size] + b % 3 - 1, 0, capacity(s.dims));
}

// A permutation of the pages: multiples of a number coprime to their count.
inline std::int64_t shuffled_page(const FillSite& s, std::int64_t place) {
  const std::int64_t pages = s.dims[Axis::pages];
  std::int64_t factor = 2 + static_cast<std::int64_t>(draw(s, Purpose::row, 0) % static_cast<std::uint64_t>(pages));
  while (std::gcd(factor, pages) != 1) ++factor;
  const auto start = static_cast<std::int64_t>(draw(s, Purpose::column, 0) % static_cast<std::uint64_t>(pages));
  return (factor % pages * place + start) % pages;
}
inline std::int64_t last_page_first(const FillSite& s, std::int64_t place) { return s.dims[Axis::pages] - 1 - place; }

// An entry that must be ignored: -1, the page count, the largest integer, or any page.
inline std::int64_t garbage_page(const FillSite& s, std::int64_t i) {
  const std::uint64_t bits = draw(s, Purpose::kind, i);
  const std::int64_t pages = s.dims[Axis::pages];
  switch (bits % 4) {
    case 0: return -1;
    case 1: return pages;
    case 2: return std::numeric_limits<std::int32_t>::max();
    default: return static_cast<std::int64_t>((bits >> 8) % static_cast<std::uint64_t>(pages));
  }
}

// Element i of page_table or of lengths.  With `shared`, all tables start with the first half of the first sequence's pages.
using Integer = std::int64_t(const FillSite&, std::int64_t);
template <Integer* length, Integer* page, bool shared = false>
std::int64_t tables(const FillSite& s, std::int64_t i) {
  if (s.holds->kind == Contents::Kind::lengths) return length(s, i);
  const std::int64_t b = i / s.dims[Axis::max_pages], entry = i % s.dims[Axis::max_pages];
  if (entry * s.dims[Axis::page_size] >= length(s, b)) return garbage_page(s, i);
  return page(s, (shared && entry < (owned(s.dims) + 1) / 2 ? 0 : b) * owned(s.dims) + entry);
}
inline std::int64_t ragged(const FillSite& s, std::int64_t i) { return tables<ragged_length, shuffled_page>(s, i); }

inline Integer* tables_of(const Fill& fill) { return fill.of == Contents::Kind::pages ? fill.integer : &ragged; }
inline std::int64_t length_of(const FillSite& s, const Fill& fill, std::int64_t b) {
  static constexpr Contents kLengths = lengths_in_pages();
  FillSite at = s;
  at.holds = &kLengths;
  return tables_of(fill)(at, b);
}
// The row of a pool, seen as [pages * page_size], that holds a position.
inline std::int64_t row_of(const FillSite& s, const Fill& fill, std::int64_t b, std::int64_t position) {
  static constexpr Contents kPages = pages_by("lengths");
  FillSite at = s;
  at.holds = &kPages;
  const std::int64_t size = s.dims[Axis::page_size];
  return tables_of(fill)(at, b * s.dims[Axis::max_pages] + position / size) * size + position % size;
}

// The rows of a pool [pages, page_size, ...] that no sequence uses.
inline std::vector<bool> unused(const FillSite& s, const Fill& fill) {
  const std::int64_t size = s.dims[Axis::page_size];
  std::int64_t of_slot = 1;  // rows
  for (std::size_t k = 2; k + 1 < s.shape.size(); ++k) of_slot *= s.shape[k];
  std::vector<bool> rows(static_cast<std::size_t>(s.dims[Axis::pages] * size * of_slot), true);
  for (std::int64_t b = 0; b < s.dims[Axis::batch]; ++b)
    for (std::int64_t p = 0, length = length_of(s, fill, b); p < length; p += size) {
      const auto first = rows.begin() + row_of(s, fill, b, p) * of_slot;
      std::fill(first, first + std::min(size, length - p) * of_slot, false);
    }
  return rows;
}

}  // namespace assay::paged_fills
