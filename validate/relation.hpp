// SPDX-License-Identifier: Apache-2.0
// Relations: how the outputs of two problems must relate when the inputs of one are made from the other's (metamorphic
// testing: Chen, Cheung, Yiu 1998).  They need no golden, and find what a bound leaves room for: results that depend on where
// in a tensor a row lies, or on how many others there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/case.hpp"

namespace assay {

struct Op;
struct Kernel;
class Problem;
struct Packing;

struct Relation {
  std::string_view name;
  std::string_view shows;  // the bug it shows, one clause
  enum class Move { none, permuted, first_part } move = Move::none;
  Axis axis = Axis::rows;  // that is moved in every tensor that has it; query heads go with their kv_heads
  // An element sees the same operands in the same order, so that its bits must be the same; else it is within both bounds.
  bool bits = true;
  // Values of these tensors are v factor + added.  A factor is a power of two; of an output it says what comes out.
  struct Scaled {
    std::string_view tensor;
    double factor = 1, added = 0;
  };
  std::vector<Scaled> scaled{};
  void (*change)(Case&) = nullptr;         // of the attributes
  bool (*applies)(const Case&) = nullptr;  // none: wherever the axis has enough to move
};

// Which relations a run tries on a case.
enum class Relations { none, share, all };

// Of a case, those that apply by its extents: all; or of one case in four, one, chosen by its seed.
std::vector<std::string> relations_of(const Op&, const Case&, Relations which);
const Relation* find_relation(const Op&, std::string_view name);

// The other problem: its case, where its tensors lie, and its inputs' images.
struct Related {
  Case c;
  std::vector<std::byte> inputs;  // as `pack(op, c)` has them
};
// None where some input would not be what the relation says, since its dtype has no such value.
std::optional<Related> relate(const Op&, const Case&, const Relation&, const Packing&, const std::byte* inputs);

// Judges a kernel's outputs on the related problem by those on the original, which is solved where bits need not be equal.
// Returns what is wrong; empty: nothing.
std::string judge_relation(const Op&, const Kernel&, const Relation&, const Case&, const Problem& original, const Packing&,
                           const std::byte* inputs, const std::byte* outputs, const std::byte* related_outputs);

}  // namespace assay
