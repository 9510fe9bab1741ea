// SPDX-License-Identifier: Apache-2.0
// Which words of numerics the rules of a graph have, and which they read.
#pragma once

#include "ops/core/contract.hpp"
#include "reference/formula/graph.hpp"

namespace assay::formula {

// Whether there is a rule for every word of these numerics; if not, `why` names the word.
Legality has_rules(const Graph& graph, const Numerics& numerics);

// Of numerics for which there are rules: the same, but words that no rule of the graph's nodes reads have their default.  The
// bounds are the same.  `storage`: the dtype of the tensors that share the case's.
Numerics words_read(const Graph& graph, DType storage, const Numerics& numerics);

}  // namespace assay::formula
