// SPDX-License-Identifier: Apache-2.0
// Tells in words where an output is wrong, and what that is usually caused by: the index of an element, the pattern of all wrong
// elements, another choice or a usual fault with which they would be right.  No verdict depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

struct Prepared;

// The axes of an output, and the extent of the kernel's tile along each (0: not tiled).
struct Frame {
  std::vector<Extent> axes;
  std::vector<std::int64_t> tiles;
  std::vector<std::pair<std::string_view, std::int64_t>> extents{};  // of the case, by which a factor may be known
};
Frame frame_of(const TensorSpec& output, const Kernel& kernel, DType of_case);

struct Pattern {
  std::string text;        // "3,072 of 262,144 wrong: every element of queries ≥ 128, heads 3 and 7; none elsewhere"
  std::string reads_like;  // what usually causes such a pattern; empty: nothing known
};
// `got` as in compare(); `second`: the same of a run over other old bytes, if there was one.  At least one element of the solved
// rows must be wrong.
Pattern pattern(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact, const Frame& frame,
                const Tensor* second = nullptr);

// Begins reads_like if no wrong element was ever written.
inline constexpr std::string_view kNeverWritten = "elements that are never written";

// A choice of the op (an attribute that is one of several words) that is right with another word: the kernel may compute that
// function.  "activation=gelu_tanh, where activation=gelu_erf is asked"; empty: there is none, few elements are wrong, or another
// golden costs much, as it does not of a shrunk case.  `wrong`: elements of these outputs that are.
struct NumberedOutput {
  int number;
  Tensor got;
};
std::string right_with_other_choice(const Prepared&, const Numerics&, std::span<const NumberedOutput>, std::int64_t wrong);
// A usual fault (validate/problem/altered.hpp) with which the outputs are right: "`bias` added twice, or doubled"; empty as
// above.  Few rows are asked, that of the worst element first.  `judging`: the problem by which the outputs are wrong.
std::string right_with_usual_fault(const Prepared&, const Problem& judging, const Numerics&, std::span<const NumberedOutput>,
                                   std::int64_t row_of_worst);

// "batch 0, query 128, head 3, dim 17"
std::string index_text(std::span<const Extent> axes, std::span<const std::int64_t> index);
// "first of query tile 1 (queries 128..255)" for every axis with several tiles; empty if there is none.
std::string tile_text(const Frame& frame, const Dims& dims, std::span<const std::int64_t> index);

}  // namespace assay
