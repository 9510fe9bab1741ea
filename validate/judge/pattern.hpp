// SPDX-License-Identifier: Apache-2.0
// Where an output is wrong, in words: an element's index decoded, and the pattern of all wrong elements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// What the indices of an output mean: its axes, and how many of each one tile of the kernel takes (0: it is not tiled).
struct Frame {
  std::vector<Axis> axes;
  std::vector<std::int64_t> tiles;
};
Frame frame_of(const TensorSpec& output, const Kernel& kernel, DType of_case);

struct Pattern {
  std::string text;        // "3,072 of 262,144 wrong: every element of queries ≥ 128, heads 3 and 7; none elsewhere"
  std::string reads_like;  // what usually makes such a pattern; empty: nothing known
};
// `got` as in compare(); at least one of its judged elements is wrong.
Pattern pattern(const Problem& problem, const Numerics& numerics, int output, const Tensor& got, bool exact, const Frame& frame);

// Begins reads_like where no wrong element was ever written.
inline constexpr std::string_view kNeverWritten = "elements that are never written";

// "batch 0, query 128, head 3, dim 17"
std::string index_text(std::span<const Axis> axes, std::span<const std::int64_t> index);
// "first of query tile 1 (queries 128..255)" for every axis of several tiles; empty: there is none.
std::string tile_text(const Frame& frame, const Dims& dims, std::span<const std::int64_t> index);

}  // namespace assay
