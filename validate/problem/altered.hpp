// SPDX-License-Identifier: Apache-2.0
// Problems that a kernel with a usual fault solves in place of the one it is given: an input left out or taken twice, read with
// the strides of another, one row further, or only up to a multiple of some width; an attribute with another value.  Where such a
// problem has the outputs that a kernel gave, the fault is known.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/problem/image.hpp"

namespace assay {

using Extents = std::vector<std::pair<std::string_view, std::int64_t>>;  // of axes, by name

// Factors that a wrong result is often off by: constants, and functions of extents such as "sqrt((cols-1)/cols)".
std::vector<std::pair<double, std::string>> known_factors(const Extents& extents);

// Calls `is_it` with each such problem and what it says of a kernel ("`bias` added twice, or doubled"), the plainest first, until
// it returns true.  The problems are attached, legal and not solved.  None are made of tensors that take much memory.
void each_altered(const Op& op, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images,
                  const std::function<bool(const std::string& what, Problem& problem)>& is_it);

}  // namespace assay
