// SPDX-License-Identifier: Apache-2.0
// What a graph tells by its shapes alone.
#pragma once

#include <span>

#include "ops/core/formula_answers.hpp"
#include "ops/core/rows.hpp"
#include "reference/formula/graph.hpp"

namespace assay::formula {

// Costs: each input is read once, and each output written once.  Of an input that is only read where integers point (`take`), no
// more is read than is taken.  Unfused, each operation of the formula is a kernel that reads its arguments and writes its result
// in the dtype of the first output, as an eager framework runs it.
// `axes`: the contract's.
FormulaFacts facts_of(const Graph& graph, std::span<const AxisUse> axes);

// Bytes that answers take for these rows: the values and bounds of every output, the arrays that are kept of a small case, and
// meanwhile those of one part for each thread.
SolveMemory memory_of(const Graph& graph, const Rows& rows);

}  // namespace assay::formula
