// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of formulas: cases with their inputs, as the evaluators take them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "reference/formula/evaluate.hpp"
#include "reference/formula/formula.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"

namespace assay::test {

inline const formula::NamedFormula* find_formula(std::string_view op) {
  const formula::NamedFormula* f = formula::NamedFormula::first;
  while (f && f->op != op) f = f->next;
  return f;
}

// A case with its tensors in memory, inputs filled.
class FormulaCase {
 public:
  FormulaCase(const Op& op, const Case& c) : op_(op), problem_(op.make()) {
    const std::vector<Placement> placements = place(op, c);
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      images_.emplace_back(placements[i].bytes);
      fill_image(op, c, static_cast<int>(i), placements[i], images_.back().data(), {});
      pointers.push_back(images_.back().data());
    }
    attach(*problem_, c, placements, pointers);
  }

  Problem& problem() { return *problem_; }
  const Tensor& tensor(std::string_view name) const { return *problem_->tensors()[tensor_index(op_, name)]; }
  formula::Graph trace() const { return find_formula(op_.name)->trace(problem_->args()); }
  std::vector<Tensor> inputs_of(const formula::Graph& g) const {
    std::vector<Tensor> inputs;
    for (const formula::Port& p : g.inputs) inputs.push_back(tensor(p.name));
    return inputs;
  }

 private:
  const Op& op_;
  std::unique_ptr<Problem> problem_;
  std::vector<std::vector<std::byte>> images_;
};

}  // namespace assay::test
