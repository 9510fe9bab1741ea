// SPDX-License-Identifier: Apache-2.0
// A bench row's case made smaller, for a simulator, and longer, as a planted slowdown.
#include <algorithm>
#include <cmath>

#include "validate/base/error.hpp"
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

// The axes of which each has independent rows, the plainest first: that of the contract's head, heads with those that share
// them, queries.
std::vector<Axis> parallel_axes(const Op& op) {
  std::vector<Axis> axes{op.axes[0].axis};
  for (const Axis more : {Axis::kv_heads, Axis::seq_q})
    if (std::any_of(op.axes.begin(), op.axes.end(), [&](const AxisUse& use) { return use.axis == more; })) axes.push_back(more);
  return axes;
}

double growth_percent(double from, double to) { return from > 0 ? 100 * (to / from - 1) : 0; }

}  // namespace

// The first axis (rows, tokens, batches) to what a million elements leave it; then, while a simulator would take too long over
// the operations, the batch and the heads to one group, and the longest of the other axes to half, down to one tile and a bit.
Case bench_reduced(const Op& op, const Case& c) {
  constexpr std::int64_t kElements = std::int64_t{1} << 20, kTileAndABit = 129;
  constexpr double kMostFlops = 3e7;
  Case small = c;
  const Axis longest = op.axes[0].axis;
  const std::int64_t rest = std::max<std::int64_t>(1, elements(c, op.shape()) / std::max<std::int64_t>(1, c.dims[longest]));
  small.dims[longest] = std::min(c.dims[longest], std::max(kTileAndABit, std::min<std::int64_t>(1024, kElements / rest)));
  if (cost_of(op, small).flops <= kMostFlops) return small;
  if (small.dims[Axis::batch] > 1) small.dims[Axis::batch] = 1;
  if (const std::int64_t groups = small.dims[Axis::kv_heads]; groups > 1)
    small.dims[Axis::heads] /= groups, small.dims[Axis::kv_heads] = 1;
  while (cost_of(op, small).flops > kMostFlops) {
    std::int64_t most = 0;
    for (const AxisUse& use : op.axes) most = std::max(most, small.dims[use.axis]);
    if (most <= kTileAndABit) break;
    for (const AxisUse& use : op.axes)  // those that are alike stay alike
      if (std::int64_t& extent = small.dims[use.axis]; extent == most) extent = std::max(kTileAndABit, most / 2);
  }
  return small;
}

std::vector<Case> bench_longer(const Op& op, const Case& c, double percent) {
  std::vector<Case> ways;
  const Cost was = cost_of(op, c);
  for (const Axis axis : parallel_axes(op)) {
    Case longer = c;
    const double from = static_cast<double>(c.dims[axis]);
    const double to = std::ceil(from * (1 + 0.01 * percent) * (1 - 1e-12));
    longer.dims[axis] = static_cast<std::int64_t>(to);
    if (axis == Axis::kv_heads && c.dims[axis] > 0)
      longer.dims[Axis::heads] = c.dims[Axis::heads] / c.dims[axis] * longer.dims[axis];
    if (const double grown = growth_percent(from, to); grown <= 0 || grown > 1.5 * percent) continue;
    try {
      check(longer, op.shape());
    } catch (const BadInput&) {
      continue;
    }
    const Cost is = cost_of(op, longer);
    const double grown = was.flops > 0 ? growth_percent(was.flops, is.flops) : growth_percent(was.bytes(), is.bytes());
    if (grown >= 0.5 * percent && grown <= 2 * percent) ways.push_back(std::move(longer));
  }
  return ways;
}

}  // namespace assay
