// SPDX-License-Identifier: Apache-2.0
// Which integers are drawn, by what a tensor holds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <mutex>

#include "validate/problem/contents/contents.hpp"
#include "validate/values/common_fills.hpp"
#include "validate/values/packed_fills.hpp"
#include "validate/values/paged_fills.hpp"
#include "validate/values/positions.hpp"

namespace assay {

namespace {

using Kind = Contents::Kind;

struct Draws {
  Kind of;
  std::string_view name, shows;
  std::int64_t (*integer)(const FillSite&, std::int64_t);
  bool only_read = false;  // not where the op writes to the pages: two sequences must not write to one
};

using namespace packed_fills;
using namespace paged_fills;

// Those of indices and positions are of one tensor each, whose name comes before theirs.
constexpr std::array kDraws{
    Draws{Kind::indices, "backwards", "the position used instead of the index, swapped indices", last_place_first},
    Draws{Kind::indices, "round", "the first index of a chunk or a shard not found", round_place},
    Draws{Kind::indices, "last", "an index with too few bits, an unreachable last place; one index many times", last_place},
    Draws{Kind::positions, "start", "a position added where it is zero", positions::start},
    Draws{Kind::positions, "far", "an angle or frequency with too few digits; positions with too few bits", positions::far},
    Draws{Kind::positions, "half_in_order", "a guess from the first positions: that all are in order", positions::half_in_order},
    Draws{Kind::starts, "lengths_equal", "packed sequences computed unlike a batch", starts<equal>},
    Draws{Kind::starts, "lengths_tile", "a packed sequence assumed to end at a tile boundary", tile_starts},
    Draws{Kind::starts, "some_empty", "an empty packed sequence first, last or between others", starts<some_empty>},
    Draws{Kind::starts, "one_has_all", "one packed sequence that has all tokens", starts<one_has_all>},
    Draws{Kind::starts, "one_side_empty", "packed queries without keys, and keys without queries", starts<one_side_empty>},
    Draws{Kind::pages, "lengths_boundary", "one page too few or too many, rows across a boundary: lengths at and next to it",
          tables<boundary_length, shuffled_page>},
    Draws{Kind::pages, "lengths_full", "an ignored last entry of a table, the last slot of a page",
          tables<full_length, shuffled_page>},
    Draws{Kind::pages, "lengths_few", "sequences of one position and empty ones", tables<few_length, shuffled_page>},
    Draws{Kind::pages, "pages_backwards", "the page table ignored", tables<ragged_length, last_page_first>},
    Draws{Kind::pages, "shared_prefix", "pages assumed to belong to one sequence only",
          tables<ragged_length, shuffled_page, true>, true},
    Draws{Kind::pages, "shared_full", "a table taken for another's, since its length and its first page are the same",
          tables<full_length, shuffled_page, true>, true},
};

// Any code of 8 bits but NaN in tensors that have such.  Note: not in scales, whose ends take every result out of range.
bool has_codes(DType t) { return size_of(t) == 1 && t != e8m0; }
double any_code(const FillSite& s, std::int64_t i) {
  if (!has_codes(s.dtype)) return draws::normal(s, i);
  const auto code = static_cast<std::uint8_t>(random::bits(draws::key(s, Purpose::value), draws::at(i)));
  const double value = decode(s.dtype, &code, 0);
  return std::isfinite(value) ? value / whole_numbers_scale(s.dtype) : 0;
}

bool is_of_one_tensor(Kind k) { return k == Kind::indices || k == Kind::positions; }

// Lengths and the pages that they fill are drawn together.
Kind drawn_with(Kind k) { return k == Kind::lengths ? Kind::pages : k; }

// Names of fills, which live as long as the program.
std::string_view kept(std::string name) {
  static std::mutex mutex;
  static std::deque<std::string> names;
  const std::lock_guard lock(mutex);
  const auto at = std::ranges::find(names, name);
  return at != names.end() ? *at : names.emplace_back(std::move(name));
}

}  // namespace

std::int64_t drawn(const Fill& fill, const FillSite& s, std::int64_t i) {
  const Kind kind = drawn_with(s.holds->kind);
  if (fill.integer && fill.of == kind && (fill.in.empty() || fill.in == s.tensor)) return fill.integer(s, i);
  switch (kind) {
    case Kind::positions: return positions::gaps(s, i);
    case Kind::starts: return starts<packed_fills::ragged>(s, i);
    case Kind::pages: return paged_fills::ragged(s, i);
    default: return any_place(s, i);
  }
}

void add_contents(Op& op) {
  check_contents(op);
  const std::vector<TensorSpec>& specs = op.tensors;
  std::vector<Fill> fills;
  const bool updates = std::ranges::any_of(specs, [](const TensorSpec& t) { return t.options.updated; });
  for (const Draws& d : kDraws)
    for (const TensorSpec& t : specs) {
      if (t.options.holds.kind != d.of || (d.only_read && updates)) continue;
      Fill fill{.name = d.name, .shows = d.shows, .value = draws::normal, .integer = d.integer, .of = d.of};
      if (is_of_one_tensor(d.of)) {
        fill.in = t.name;
        fill.name = kept(fmt::format("{}_{}", t.name, d.name));
      }
      if (std::ranges::find(fills, fill.name, &Fill::name) == fills.end()) fills.push_back(fill);
    }
  const auto holds_codes = [](const TensorSpec& t) { return is_given(t) && t.options.dtype && has_codes(*t.options.dtype); };
  if (std::ranges::any_of(specs, holds_codes))
    fills.push_back({.name = "codes",
                     .shows = "a code of 8 bits taken for another: a subnormal, the largest, a negative zero",
                     .value = any_code,
                     .scattered = true});
  std::ranges::move(fills, std::back_inserter(op.hooks.fills));
}

std::vector<bool> unused_rows(const Op& op, const TensorSpec& spec, const Fill& fill, const FillSite& s) {
  const auto is_table = [](const TensorSpec& t) { return t.options.holds.kind == Kind::pages; };
  const bool in_pages = spec.role == Role::input && spec.axes.size() > 2 && spec.axes[0] == Extent(Axis::pages) &&
                        spec.axes[1] == Extent(Axis::page_size);
  if (!in_pages || std::ranges::none_of(op.tensors, is_table)) return {};
  return unused(s, fill);
}

}  // namespace assay
