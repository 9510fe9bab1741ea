// SPDX-License-Identifier: Apache-2.0
// Which rows of a long case are judged against the golden.
#pragma once

#include <cstdint>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

// Operations that a golden may cost before rows are sampled: a second or two on a laptop.
inline constexpr double kGoldenFlops = 2e10;

// The rows of a case whose golden would be too dear, sorted; empty: all of them.  For every axis of the first output but the
// last, the sample takes the first and last index, those on both sides of tile edges, and seeded ones between them.
std::vector<std::int64_t> sampled_rows(const Op&, const Case&, const Problem&, double most_flops = kGoldenFlops);

}  // namespace assay
