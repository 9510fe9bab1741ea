// SPDX-License-Identifier: Apache-2.0
// Hooks of an op, so far as its formula gives them: the second oracle, the axes that sums run over, fills that overflow.
#pragma once

#include <span>

#include "ops/core/formula_answers.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/typed/solutions.hpp"

namespace assay {

// What may be asked of a formula about the arguments of a problem.
struct FormulaOf {
  FormulaFacts (*facts)(const void* args);
  void (*oracle)(const void* args, const Numerics&, Roundings, std::span<const std::span<double>> outputs);
  bool (*overflows)(const void* args, const Numerics&, std::span<double> y);  // with these roundings; y is written to
  bool stated;                                                                // validate/ops/OP.cpp says the hooks
};

// Adds the oracle to the hooks, and where no validate/ops/OP.cpp says how the op behaves, what else the formula gives.
void derive_hooks(Op& op, const FormulaOf& formula);

template <class O>
Op with_derived_hooks(Op op) {
  using Args = typename O::Args;
  if (LinkedAnswers<O>::facts)
    derive_hooks(
        op, {[](const void* args) { return LinkedAnswers<O>::facts(*static_cast<const Args*>(args)); },
             [](const void* args, const Numerics& numerics, Roundings roundings, std::span<const std::span<double>> outputs) {
               LinkedAnswers<O>::rounded(*static_cast<const Args*>(args), numerics, roundings, outputs);
             },
             [](const void* args, const Numerics& numerics, std::span<double> y) {
               return LinkedAnswers<O>::rounded(*static_cast<const Args*>(args), numerics, Roundings::declared, {&y, 1});
             },
             LinkedHooks<O>::make != nullptr});
  return op;
}

}  // namespace assay
