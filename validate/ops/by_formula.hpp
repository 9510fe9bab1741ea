// SPDX-License-Identifier: Apache-2.0
// What an op's formula says of it: the second oracle, the axes that sums run over, fills that show nothing.
#pragma once

#include <span>

#include "ops/core/formula_answers.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/typed/op_visitors.hpp"

namespace assay {

// What may be asked of a formula about the arguments of a problem; the last two as of ByFormula.
struct FormulaOf {
  FormulaFacts (*facts)(const void* args);
  decltype(ByFormula::oracle) oracle;
  decltype(ByFormula::without_last) without_last;
};

// Sets what the judge knows of the op from its formula, and which common fills show nothing.
void describe_by_formula(Op& op, const FormulaOf& formula);

// Sets which fills show nothing in an op that is composed of others: those that do not in one of these that reads an input.
void describe_by_stages(Op& op, StagesOf stages);

template <class O>
Op with_formula(Op op) {
  using Args = typename O::Args;
  using Answers = LinkedAnswers<O>;
  if constexpr (Staged<O>) describe_by_stages(op, [](const void* args) { return O::stages(*static_cast<const Args*>(args)); });
  if (!Answers::facts) return op;
  describe_by_formula(
      op, {.facts = [](const void* args) { return Answers::facts(*static_cast<const Args*>(args)); },
           .oracle =
               [](const void* args, const Numerics& numerics, Roundings roundings, std::span<const std::span<double>> outputs) {
                 return Answers::rounded(*static_cast<const Args*>(args), numerics, roundings, outputs);
               },
           .without_last = [](const void* args, std::string_view axis,
                              std::span<double> y) { Answers::without_last(*static_cast<const Args*>(args), axis, y); }});
  return op;
}

}  // namespace assay
