// SPDX-License-Identifier: Apache-2.0
// Relations: how the outputs of two problems must relate when the inputs of one are made from the other's (metamorphic
// testing: Chen, Cheung, Yiu 1998).  They need no golden, and find what a bound leaves room for: results that depend on where
// in a tensor a row lies, or on how many others there are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "validate/cases/case.hpp"

namespace assay {

struct Relation {
  std::string_view name;
  std::string_view shows;  // the bug it shows, one clause
  // regrouped: `change` gives axes other extents; the elements of a tensor keep their row-major order, each of them there as
  // many times as there are more.
  enum class Move { none, permuted, first_part, regrouped } move = Move::none;
  // That is moved in every tensor that has it; query heads go with their kv_heads, and where it is permuted integers that are
  // places on it.
  Axis axis = Axis::rows;
  // An element sees the same operands in the same order, so that its bits must be the same; else it is within both bounds.
  bool bits = true;
  // Outputs that are within both bounds though the others have their bits.  Of a first part they are sums of other terms, of
  // which nothing is said.
  std::vector<std::string_view> loose{};
  // Values of these tensors are v factor + added.  A factor is a power of two or 0; of an output it says what comes out.
  struct Scaled {
    std::string_view tensor;
    double factor = 1, added = 0;
    double of(double v) const { return added == 0 ? v * factor : v * factor + added; }  // Note: -0 + 0 is no -0
  };
  std::vector<Scaled> scaled{};
  // Inverse check: feed the output back as input and expect the original input.  Element i comes from and goes to the place of
  // its partner (partner(partner(i)) = i).  The op rotates pairs of partners, so an error of one reaches the other no larger.
  struct Inverse {
    std::string_view input, output;
  };
  std::vector<Inverse> inverse{};
  std::int64_t (*partner)(const Case&, std::int64_t i) = nullptr;
  // What becomes of element i (of the related problem) of a tensor of integers.
  double (*integer)(std::string_view tensor, const Dims& from, std::int64_t i, double v) = nullptr;
  void (*change)(Case&) = nullptr;         // of the attributes; of the axes where they are regrouped
  bool (*applies)(const Case&) = nullptr;  // none: wherever the axis has enough to move

  // The inverse check that takes this input, or this output; null: none.
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

// Which relations a run tries on a case.
enum class Relations { none, share, all };

}  // namespace assay
