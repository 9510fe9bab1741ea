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

#include "validate/cases/case.hpp"

namespace assay {

struct Op;
struct Kernel;
class Problem;
struct Packing;

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
  };
  std::vector<Scaled> scaled{};
  // The way back: an input takes what the kernel gave for an output, each element from the place of its partner (place(place(i))
  // = i), and what comes out is the input that there was, at the partner's place.  The op rotates pairs of partners, which moves
  // an error of one to the other by no more than what it is.
  struct Back {
    std::string_view input, output;
  };
  std::vector<Back> back{};
  std::int64_t (*partner)(const Case&, std::int64_t i) = nullptr;
  // What becomes of element i (of the related problem) of a tensor of integers.
  double (*integer)(std::string_view tensor, const Dims& from, std::int64_t i, double v) = nullptr;
  void (*change)(Case&) = nullptr;         // of the attributes; of the axes where they are regrouped
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
// None where some input would not be what the relation says, since its dtype has no such value.  `outputs`: of the kernel, for
// relations that lead back.
std::optional<Related> relate(const Op&, const Case&, const Relation&, const Packing&, const std::byte* inputs,
                              const std::byte* outputs);

// Judges a kernel's outputs on the related problem by those on the original, which is solved where bits need not be equal.
// Returns what is wrong; empty: nothing.
std::string judge_relation(const Op&, const Kernel&, const Relation&, const Case&, const Problem& original, const Packing&,
                           const std::byte* inputs, const std::byte* outputs, const std::byte* related_outputs);

}  // namespace assay
