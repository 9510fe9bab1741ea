// SPDX-License-Identifier: Apache-2.0
// Builds the related problem of a relation from a case and its outputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "validate/problem/packing.hpp"
#include "validate/problem/relation.hpp"

namespace assay {

// Whether a kernel must give the same bits on the related problem, as far as its values allow it.  Not so:
//  - if the relation does not ask for them (`bits`);
//  - if the kernel is not deterministic, or declares `position_matters`, or is a library's;
//  - if operands are scaled, and it rounds intermediates to f16: there, halves of ordinary values may be subnormal.
bool asks_bits(const Relation&, const Kernel&, DType);

// Whether two numbers are the same, any NaN like any other, but zeros of different sign are not.
inline bool same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
// A problem with these inputs, laid out by pack(op, c), not yet solved.  `stored`: of a composite op, outputs that a candidate
// stored.
std::unique_ptr<Problem> problem_with(const Op&, const Case&, const Packing&, const std::byte* inputs,
                                      const std::byte* stored = nullptr);

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
// Empty if the dtype cannot represent some input of the related problem, or if it is not legal.  `outputs`: the kernel's on the
// original, for inverse checks.
std::optional<Related> relate(const Op&, const Case&, const Relation&, const Packing&, const std::byte* inputs,
                              const std::byte* outputs);

}  // namespace assay
