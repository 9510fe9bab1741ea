// SPDX-License-Identifier: Apache-2.0
// The rules by which kernels are judged in practice, each with its weaknesses, for comparison with this judge.  They see what
// their users' tests see: the output of one run, and a reference of higher precision rounded to the output's dtype.  What
// happens around the outputs, and whether two runs agree, no rule asks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

enum class Policy { allclose, assert_close, nmse, matched_99, twice_baseline, cosine };
inline constexpr std::array<std::string_view, 6> kPolicies{"allclose-1e-2", "torch-assert-close", "nmse-5e-4",
                                                           "matched-99",    "two-times-baseline", "cosine"};
constexpr std::string_view name(Policy p) { return kPolicies[static_cast<std::size_t>(p)]; }

// What the rules need to know of one output.
struct PolicyFigures {
  std::int64_t compared = 0;
  std::int64_t not_close = 0;         // beyond atol = rtol = 1e-2
  std::int64_t not_assert_close = 0;  // beyond the dtype's defaults
  bool class_differs = false;         // a NaN on either side, or an infinity that the other side has not
  double error_squares = 0, got_squares = 0, golden_squares = 0, product = 0;
  double max_error = 0;  // NaN where any error is
};

// Whether a rule lets outputs pass.  `baseline`: the figures of the plain kernel on the same case, output by output, which
// two-times-baseline needs.
bool passes(Policy policy, std::span<const PolicyFigures> outputs, std::span<const PolicyFigures> baseline);

}  // namespace assay
