// SPDX-License-Identifier: Apache-2.0
// Which words of numerics the rules of a graph have, and which they read.
#pragma once

#include "ops/core/contract.hpp"
#include "reference/formula/graph.hpp"

namespace assay::formula {

// Whether kernels of these numerics store such a step.
constexpr bool stores(const Numerics& numerics, Stored stored) {
  switch (stored) {
    case Stored::with_intermediates: return numerics.stores_intermediate;
    case Stored::with_every_step: return numerics.stores_every_step;
    case Stored::where_rotated: return numerics.rounds_rotated;
    case Stored::as_factor: return numerics.stores_intermediate || numerics.narrow_probabilities;
    case Stored::as_gradient:
      return numerics.stores_intermediate || (numerics.narrow_probabilities && !numerics.scaled_gradients);
    case Stored::as_scaled_gradient: return numerics.narrow_probabilities && numerics.scaled_gradients;
    case Stored::with_rounded_weights: return numerics.rounds_weights;
  }
  return false;
}

// Whether there is a rule for every word of these numerics; if not, `why` names the word.
Legality has_rules(const Graph& graph, const Numerics& numerics);

// Of numerics for which there are rules: the same, but words that no rule of the graph's nodes reads have their default.  The
// bounds are the same.  `storage`: the dtype of the tensors that share the case's.
Numerics words_read(const Graph& graph, DType storage, const Numerics& numerics);

}  // namespace assay::formula
