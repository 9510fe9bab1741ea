// SPDX-License-Identifier: Apache-2.0
// What a contract has to have, and how a problem of one is solved: by its formula.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "ops/core/formula_answers.hpp"
#include "ops/core/linked.hpp"
#include "validate/problem/typed/op_visitors.hpp"

namespace assay {

// A composite op, judged by its stages.
template <class Op>
concept Staged = requires(const typename Op::Args a) {
  { Op::stages(a) } -> std::same_as<std::vector<Stage>>;
};

template <class Op>
concept Contract = requires(typename Op::Args a) {
  Op::bind(a, detail::IgnoreAll{});
  std::span<const AxisUse>(Op::axes);
};

// The values that a formula gives, and what it answers of bounds.
template <Contract C>
class Solution {
 public:
  Solution(typename C::Args& args, const Rows& rows, Need need) {
    C::bind(args, detail::AllocateOutputs{{}, rows.all(), outputs_});
    const std::vector<std::span<double>> values = detail::not_empty(outputs_);
    if (!values.empty()) answers_ = LinkedAnswers<C>::make(args, rows, values, need);
  }
  std::span<const double> golden(int output) const { return outputs_.at(static_cast<std::size_t>(output)).values(); }
  Legality has_rules(const Numerics& n) const { return answers_ ? answers_->has_rules(n) : Legality::yes(); }
  Numerics words_read(const Numerics& n) const { return answers_ ? answers_->words_read(n) : n; }
  // `whole`: of every row.
  std::vector<LazyArray> bounds(Errors errors, const Numerics& n, bool whole) const {
    std::vector<LazyArray> all;
    for (const LazyArray& golden : outputs_) all.emplace_back(golden.values().size(), whole);
    if (answers_) answers_->bounds(errors, n, detail::not_empty(all));
    return all;
  }

 private:
  std::vector<LazyArray> outputs_;
  std::unique_ptr<FormulaAnswers> answers_;  // null: there are no elements
};

}  // namespace assay
