// SPDX-License-Identifier: Apache-2.0
// Relations: how the outputs of two problems must relate if the inputs of one are derived from the other's (metamorphic
// testing: Chen, Cheung, Yiu 1998).  They need no golden, and find faults within the bound: results that depend on a row's
// index, or on the number of rows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "validate/cases/case.hpp"

namespace assay {

struct Relation {
  std::string_view name;
  std::string_view shows;  // the bug it shows, one clause
  // regrouped: `change` sets other extents; elements keep their row-major order, repeated if a tensor has more elements.
  enum class Move { none, permuted, first_part, regrouped } move = Move::none;
  // The axis that is moved in every tensor that has it.  Query heads move with their kv_heads; integers that index a permuted
  // axis change with it.
  Axis axis = Axis::rows;
  // Each element has the same operands in the same order, so its bits must be equal; if false, it must be within both bounds.
  bool bits = true;
  // Exceptions to `bits`: outputs that need only be within both bounds.  For first_part they have other terms and are not
  // checked.
  std::vector<std::string_view> within_bounds{};
  // Values v of these tensors become v factor + added; for an output it is the expected result.  factor: a power of two or 0.
  struct Scaled {
    std::string_view tensor;
    double factor = 1, added = 0;
    double of(double v) const { return added == 0 ? v * factor : v * factor + added; }  // Note: keeps -0
  };
  std::vector<Scaled> scaled{};
  // Inverse check: feed the output back as input and expect the original input.  Element i comes from and goes to the place of
  // its partner (partner(partner(i)) = i).  The op rotates pairs of partners, so an error of one reaches the other no larger.
  struct Inverse {
    std::string_view input, output;
  };
  std::vector<Inverse> inverse{};
  std::int64_t (*partner)(const Case&, std::int64_t i) = nullptr;
  // The value of element i of an integer tensor in the related problem, from the original's value v.
  double (*integer)(std::string_view tensor, const Dims& from, std::int64_t i, double v) = nullptr;
  void (*change)(Case&) = nullptr;         // changes attributes; if regrouped, extents
  bool (*applies)(const Case&) = nullptr;  // null: if the axis is long enough

  // The inverse check that writes this input, or reads this output; null: none.
  const Inverse* inverse_into(std::string_view input) const { return inverse_with(&Inverse::input, input); }
  const Inverse* inverse_of(std::string_view output) const { return inverse_with(&Inverse::output, output); }
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
