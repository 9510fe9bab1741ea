// SPDX-License-Identifier: Apache-2.0
// Which words of numerics the rules of a graph have, and which they read.
#pragma once

#include <string>
#include <vector>

#include "ops/core/formula_answers.hpp"
#include "reference/formula/graph.hpp"

namespace assay::formula {

// Whether there is a rule for every word of these numerics; if not, `why` names the word.
Legality has_rules(const Graph& graph, const Numerics& numerics);

// What kernels may store: the graph's steps, and the results of its softmax; each name once.
std::vector<FormulaStep> steps_of(const Graph& graph);
// The names of what can be computed in two ways.
std::vector<std::string> ways_of(const Graph& graph);
// Whether the result of a softmax, a node of the graph, is read on: it is then more than an output.
bool is_read(const Graph& graph, const Node& softmax);

// Of numerics for which there are rules: the same, but words that no rule of the graph's nodes reads have their default.  The
// bounds are the same.  `storage`: the dtype of the tensors that share the case's.
Numerics words_read(const Graph& graph, DType storage, const Numerics& numerics);

}  // namespace assay::formula
