// SPDX-License-Identifier: Apache-2.0
// Builds the related problem of a relation from a case and its outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/problem/packing.hpp"
#include "validate/problem/relation.hpp"

namespace assay {

// Names of the relations to try on a case, of those that apply: all, or for Relations::share at most one, in one case of four,
// both chosen by the case's seed.
std::vector<std::string> relations_of(const Op&, const Case&, Relations which);
const Relation* find_relation(const Op&, std::string_view name);

// Whether a kernel must give the same bits on the related problem, as far as its values allow it.  Not so:
//  - if the relation does not ask for them (`bits`);
//  - if the kernel is not deterministic, or declares `position_matters`, or is a library's;
//  - if operands are scaled, and it rounds intermediates to f16: there, halves of ordinary values may be subnormal.
bool asks_bits(const Relation&, const Kernel&, DType);

// The case of the related problem.
Case related_case(const Relation&, const Case&);
// Where a related tensor's elements are in the original (both row-major).
class Sources {
 public:
  Sources(const Relation&, const Dims& from, const Dims& to, std::span<const Extent> shape);
  std::int64_t operator[](std::int64_t i) const;

 private:
  struct Along {
    std::int64_t from, to;               // extents
    std::vector<std::int64_t> places{};  // by the related index; empty: the same
  };
  std::vector<Along> along_;  // empty: all elements lie where they were
  std::int64_t group_ = 1;    // elements of the related tensor for each of the original
};

// The related problem: its case and the images of its inputs.
struct Related {
  Case c;
  std::vector<std::byte> inputs;  // laid out by pack(op, c)
};
// Empty if the dtype cannot represent some input of the related problem.  `outputs`: the kernel's on the original, for inverse
// checks.
std::optional<Related> relate(const Op&, const Case&, const Relation&, const Packing&, const std::byte* inputs,
                              const std::byte* outputs);

}  // namespace assay
