// SPDX-License-Identifier: Apache-2.0
// Hooks of an op, so far as its formula gives them: the second oracle, the axes that sums run over,
// relations, fills that overflow.
#pragma once

#include <span>

#include "ops/core/formula_answers.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/typed/solutions.hpp"

namespace assay {

// What may be asked of a formula about the arguments of a problem.
struct FormulaOf {
  FormulaFacts (*facts)(const void* args);
  void (*oracle)(const void* args, const Numerics&, Roundings, std::span<double> y);
  bool (*overflows)(const void* args, const Numerics&, std::span<double> y);  // with these roundings; y is written to
};

// Adds what the formula gives to the hooks, where validate/ops/OP.cpp has not said it.  One that lists relations has said how the
// op behaves, so that only the oracle is added.
void derive_hooks(Op& op, const FormulaOf& formula);

template <class O>
Op with_derived_hooks(Op op) {
  using Args = typename O::Args;
  if (LinkedAnswers<O>::facts)
    derive_hooks(op, {[](const void* args) { return LinkedAnswers<O>::facts(*static_cast<const Args*>(args)); },
                      [](const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
                        LinkedAnswers<O>::rounded(*static_cast<const Args*>(args), numerics, roundings, y);
                      },
                      [](const void* args, const Numerics& numerics, std::span<double> y) {
                        return LinkedAnswers<O>::rounded(*static_cast<const Args*>(args), numerics, Roundings::declared, y);
                      }});
  return op;
}

}  // namespace assay
