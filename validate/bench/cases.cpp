// SPDX-License-Identifier: Apache-2.0
// Cuts a bench row's case down to a size that simt can run.
#include <algorithm>

#include "validate/bench/bench.hpp"
#include "validate/problem/image.hpp"

namespace assay {

namespace {

Cost cost_of(const Op& op, const Case& c) {
  const std::unique_ptr<Problem> problem = op.make();
  const std::vector<Placement> placements = place(op, c);
  attach(*problem, c, placements, std::vector<std::byte*>(placements.size(), nullptr));
  return problem->cost();
}

}  // namespace

// First cuts the first axis (rows, tokens, batches) to about a million elements.  While the operations are still too many for
// simt, cuts batch and heads to one group, then halves the longest axis repeatedly, down to one tile plus one element.
Case bench_reduced(const Op& op, const Case& c) {
  constexpr std::int64_t kElements = std::int64_t{1} << 20, kTileAndABit = 129;
  constexpr double kMostFlops = 3e7;
  Case small = c;
  const Axis longest = op.axes[0].axis;
  const std::int64_t rest = std::max<std::int64_t>(1, elements(c, op.shape()) / std::max<std::int64_t>(1, c.dims[longest]));
  small.dims[longest] = std::min(c.dims[longest], std::max(kTileAndABit, std::min<std::int64_t>(1024, kElements / rest)));
  if (cost_of(op, small).flops <= kMostFlops) return small;
  if (small.dims[Axis::batch] > 1) small.dims[Axis::batch] = 1;
  if (const std::int64_t groups = small.dims[Axis::kv_heads]; groups > 1) {
    small.dims[Axis::heads] /= groups;
    small.dims[Axis::kv_heads] = 1;
  }
  while (cost_of(op, small).flops > kMostFlops) {
    std::int64_t most = 0;
    for (const AxisUse& use : op.axes) most = std::max(most, small.dims[use.axis]);
    if (most <= kTileAndABit) break;
    for (const AxisUse& use : op.axes)  // axes of equal extent stay equal
      if (std::int64_t& extent = small.dims[use.axis]; extent == most) extent = std::max(kTileAndABit, most / 2);
  }
  return small;
}

}  // namespace assay
