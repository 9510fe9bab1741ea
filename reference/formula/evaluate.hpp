// SPDX-License-Identifier: Apache-2.0
// A formula's values and bounds for a whole case, in blocks of rows, so that memory is that of a block for each thread.
#pragma once

#include <span>
#include <vector>

#include "ops/core/rows.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {

// Of one output, row-major; of rows that were not asked for nothing is written.
struct Answer {
  std::vector<double> values;
  std::vector<std::vector<double>> errors;  // for each of what was declared: before the output's own rounding
};

// The axes along which a graph is cut, outermost first: every output has them, and no node needs more than one of their
// positions. As many as make a position's arrays small, and at least one if there is any.
std::vector<int> cut_axes(const Graph& graph);

// `tensors`: the inputs, in the graph's order.  `rows` are indices of all axes of the first output but its last.
std::vector<Answer> evaluate(const Graph& graph, std::span<const Tensor> tensors, const Rows& rows,
                             std::span<const Declared> declared);

}  // namespace assay::formula
