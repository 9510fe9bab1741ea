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

namespace assay::formula {

// Of one output, row-major; of rows that were not asked for nothing is written.
struct Answer {
  std::vector<double> values;
  std::vector<std::vector<double>> errors;  // for each of what was declared: before the output's own rounding
};

// Values and errors of a whole case.  `tensors`: the inputs, in the graph's order.  `rows` are indices of all axes but the last
// of each output, so of a sample the outputs have the same rows.
inline std::vector<Answer> evaluate(const Graph& graph, std::span<const Tensor> tensors, const Rows& rows,
                                    std::span<const Declared> declared) {
  std::vector<Answer> answers(graph.outputs.size());
  for (std::size_t o = 0; o < answers.size(); ++o) {
    const auto size = static_cast<std::size_t>(graph.size(set_of(graph.outputs[o].axes)));
    answers[o].values.resize(size);
    answers[o].errors.assign(declared.size(), std::vector<double>(size));
  }
  Parts(graph, tensors, [&](std::size_t) { return rows; }).visit([&](const PartOf& part) {
    const Values& values = *part.values;
    const auto place_all = [&](const auto& of, const auto& to) {
      for (std::size_t i = 0; i < part.outputs.size(); ++i)
        place(values, values.graph().outputs[i], of.output(i), to(answers[part.outputs[i]]));
    };
    place_all(values, [](Answer& answer) -> std::vector<double>& { return answer.values; });
    for (std::size_t k = 0; k < declared.size(); ++k)
      place_all(Tracked(values, declared[k]), [k](Answer& answer) -> std::vector<double>& { return answer.errors[k]; });
  });
  return answers;
}

}  // namespace assay::formula

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
