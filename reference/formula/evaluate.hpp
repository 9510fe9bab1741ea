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

// The axis along which a graph can be cut: every output has it, and no node needs more than one of its positions.  -1: none.
int block_axis(const Graph& graph);

// `tensors`: the inputs, in the graph's order.  `rows` are indices of all axes of the first output but its last.
std::vector<Answer> evaluate(const Graph& graph, std::span<const Tensor> tensors, const Rows& rows,
                             std::span<const Declared> declared);

}  // namespace assay::formula
