// SPDX-License-Identifier: Apache-2.0
// Samples the rows of a long case that are compared with the golden.
#pragma once

#include <cstdint>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

// Rows are sampled if a golden needs more operations than this: one or two seconds on a laptop.
inline constexpr double kGoldenFlops = 2e10;

// The sampled rows, sorted; empty: all rows.  The first and the last row are always included.  In the others, each index (of all
// axes but the last of the first output) is drawn by the seed: the first (1 in 8), the last (1 in 8), the first (2 in 8) or last
// (1 in 8) of a tile of 64 ... 512, or any.
std::vector<std::int64_t> sampled_rows(const Op&, const Case&, const Problem&, double most_flops = kGoldenFlops);

}  // namespace assay
