// SPDX-License-Identifier: Apache-2.0
// Relations: how the outputs of two problems must relate if the inputs of one are derived from the other's (metamorphic
// testing: Chen, Cheung, Yiu 1998).  Those that require equal bits need no golden.  They find faults within the bound: results
// that depend on a row's index, or on the number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/cases/case.hpp"

namespace assay {

struct Relation {
  std::string name;
  std::string shows;  // the bug it shows, one clause
  // permuted: the indices of `axis` change places.  first_part: only the first half of `axis` is kept, rounded up.
  // regrouped: `change` sets other extents.  Elements keep their row-major order; in a tensor that gets k times as many, each is
  // repeated k times (page_table, if pages are halved).
  enum class Move { none, permuted, first_part, regrouped } move = Move::none;
  // The axis that is moved in every tensor that has it.  Query heads move with their kv_heads; integers that index a permuted
  // axis change with it.
  Axis axis = Axis::rows;
  // True: each element has the same operands in the same order, so its bits must be equal.  False: it may differ by as much as
  // its bounds in both problems add up to ("within both bounds").
  bool bits = true;
  // Exceptions to `bits`: outputs that need only be within both bounds, such as a mean over the permuted axis, whose terms are
  // added in another order.  For first_part such a sum has other terms, so these outputs are not checked.
  std::vector<std::string_view> within_bounds{};
  // A value v of this tensor becomes v factor + added; for an output, that is the expected result.  factor: a power of two or 0.
  struct Scaled {
    std::string_view tensor;
    double factor = 1, added = 0;
    double of(double v) const { return added == 0 ? v * factor : v * factor + added; }  // Note: -0 + 0 is +0
  };
  std::vector<Scaled> scaled{};
  // Two inputs of one shape that change places, such as the terms of a sum.
  std::pair<std::string_view, std::string_view> swapped{};
  // Inverse check, for an op that rotates pairs of elements (rope).  Rotating (a, b), swapping the two, rotating and swapping
  // again gives (a, b).  So the related problem's `input` is the original's `output` with all pairs swapped, and its `output`,
  // swapped, must be the original's `input`.  Errors of both elements of a pair are allowed, since a rotation mixes them.
  // partner(i): the other element of the pair; i itself where there is none.
  struct Inverse {
    std::string_view input, output;
  };
  std::vector<Inverse> inverse{};
  std::int64_t (*partner)(const Case&, std::int64_t i) = nullptr;
  // The value of element i of an integer tensor in the related problem, where the original has v; null: v, or where v indexes a
  // permuted axis, its new index.
  double (*integer)(std::string_view tensor, const Dims& from, std::int64_t i, double v) = nullptr;
  std::function<void(Case&)> change{};         // changes attributes; if regrouped, extents
  std::function<bool(const Case&)> applies{};  // besides an axis that is long enough; null: always

  // The inverse check of which this is the input, or the output; null: none.
  const Inverse* inverse_into(std::string_view input) const { return inverse_with(&Inverse::input, input); }
  const Inverse* inverse_of(std::string_view output) const { return inverse_with(&Inverse::output, output); }
  // The input whose values this one gets.
  std::string_view swapped_with(std::string_view input) const {
    return input == swapped.first ? swapped.second : input == swapped.second ? swapped.first : input;
  }
  Scaled scaling(std::string_view tensor) const {
    for (const Scaled& s : scaled)
      if (s.tensor == tensor) return s;
    return {.tensor = tensor};
  }

 private:
  const Inverse* inverse_with(std::string_view Inverse::*end, std::string_view tensor) const {
    for (const Inverse& i : inverse)
      if (i.*end == tensor) return &i;
    return nullptr;
  }
};

// Which relations a run tries on a case; share: one, in one case of four.
enum class Relations { none, share, all };

}  // namespace assay
