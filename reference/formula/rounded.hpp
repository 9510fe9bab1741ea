// SPDX-License-Identifier: Apache-2.0
// A formula computed as a simple kernel would: every result is rounded, sums are added up in order.  It is the second oracle,
// and with Roundings::one_lower a fault that a bound must reject.
#pragma once

#include <span>

#include "ops/core/formula_answers.hpp"
#include "reference/formula/graph.hpp"

namespace assay::formula {

// Writes the outputs that are not empty, before they are rounded to their dtypes.  `tensors` are the graph's inputs, in their
// order; `storage` is the dtype of the tensors that share the case's.  Returns whether a result overflowed that is finite in
// exact arithmetic; an output that is beyond its own dtype did not.
bool evaluate_rounded(const Graph& graph, std::span<const Tensor> tensors, DType storage, const Numerics& numerics,
                      Roundings roundings, std::span<const std::span<double>> outputs);

}  // namespace assay::formula
