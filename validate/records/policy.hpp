// SPDX-License-Identifier: Apache-2.0
// Policies: the rules by which other projects' tests judge kernels, for comparison with this judge (docs/judging.md).  A policy
// sees what those tests see: the output of one run, and a reference of higher precision rounded to the output's dtype.  It sees
// no side effects and no second run.
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

// The figures of one output that all policies are computed from.
struct PolicyFigures {
  std::int64_t compared = 0;
  std::int64_t not_close = 0;         // elements beyond atol = rtol = 1e-2
  std::int64_t not_assert_close = 0;  // elements beyond the dtype's defaults of torch.testing.assert_close
  bool class_differs = false;         // a NaN on either side, or infinities that differ
  double error_squares = 0, got_squares = 0, golden_squares = 0, product = 0;
  double max_error = 0;  // NaN if any error is NaN
};

// Whether the outputs pass a policy.  `baseline`: the figures of `naive` (or `unfused`) on the same case, one per output;
// only two-times-baseline uses them.
bool passes(Policy policy, std::span<const PolicyFigures> outputs, std::span<const PolicyFigures> baseline);

}  // namespace assay
