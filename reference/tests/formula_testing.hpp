// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of formulas: cases with their inputs, as the evaluators take them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catch_shim.hpp"
#include "reference/formula/evaluate.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::test {

inline const formula::NamedFormula* find_formula(std::string_view op) {
  const formula::NamedFormula* f = formula::NamedFormula::first;
  while (f && f->op != op) f = f->next;
  return f;
}

inline formula::Graph trace(const FilledCase& c) { return find_formula(c.op().name)->trace(c.problem().args()); }

// The tensors of a graph's inputs, as the evaluators take them.
inline std::vector<Tensor> inputs_of(const formula::Graph& g, const FilledCase& c) {
  std::vector<Tensor> inputs;
  for (const formula::Port& p : g.inputs) inputs.push_back(c.tensor(p.name));
  return inputs;
}

// The text with its first `from` as `to`.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  INFO(text << " has no " << from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace assay::test
