// SPDX-License-Identifier: Apache-2.0
// The two ways to solve a problem of a typed op: by its contract's golden, or by its formula.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <vector>

#include "ops/core/formula_answers.hpp"
#include "ops/core/linked.hpp"
#include "validate/problem/typed/op_visitors.hpp"

namespace assay {

// A composite op, judged by the bounds of its stages.
template <class Op>
concept Staged = requires(const typename Op::Args a) {
  { Op::stages(a) } -> std::same_as<std::vector<Stage>>;
};

template <class Op>
concept Bounded = requires(const typename Op::Args a, const typename Op::Golden g, Numerics n) {
  { Op::bound(a, g, n, Errors::independent, 0, std::int64_t{0}) } -> std::same_as<double>;
};

// An op whose contract has no golden and no bound: both are its formula's.
template <class Op>
concept FormulaAlone = !requires {
  typename Op::Golden;
};

template <class Op>
concept Contract = requires(typename Op::Args a, const typename Op::Args ca) {
  Op::bind(a, detail::IgnoreAll{});
  std::span<const AxisUse>(Op::axes);
  requires FormulaAlone<Op> || Staged<Op> || Bounded<Op>;
  requires FormulaAlone<Op> || requires {
    { Op::legal(ca) } -> std::same_as<Legality>;
    { Op::cost(ca) } -> std::same_as<Cost>;
  };
};

// The golden that a contract has by hand, with what its bound needs: computed when it is first asked for.
template <Contract C>
class HandMade {
 public:
  HandMade(const Dims& dims, const Rows& rows) : dims_(dims), rows_(rows) {}
  std::span<const double> golden(const typename C::Args& args, int output) {
    solve(args);
    return arrays_.at(static_cast<std::size_t>(output)).values();
  }
  double bound(const typename C::Args& args, Errors errors, const Numerics& n, int output, std::int64_t i) {
    solve(args);
    if constexpr (Bounded<C>) return C::bound(args, golden_, n, errors, output, i);
    else throw std::logic_error("a composite op has no bound of its own");
  }
  static SolveMemory memory(typename C::Args& args, const Dims& dims, const Rows& rows) {
    detail::CountArrays count{dims, rows};
    Op described;
    C::bind(args, detail::DescribeArgs{described});
    for (const TensorSpec& t : described.tensors)
      if (t.role == Role::output) count.output(t);
    typename C::Golden golden;
    C::bind(golden, count);
    return {count.bytes, count.bytes > 0 && LinkedGolden<C>::scratch ? LinkedGolden<C>::scratch(args, rows) : 0};
  }
  void solve(const typename C::Args& args) {
    std::call_once(asked_, [&] {
      C::bind(golden_, detail::AllocateArrays{dims_, rows_.all(), arrays_});
      // Note: a loop over an axis of 2^40 indices takes long even if the other extent is zero.
      if (detail::not_empty(arrays_).empty()) return;
      if (!LinkedGolden<C>::solve) throw std::logic_error("this program has no golden of the op");
      LinkedGolden<C>::solve(args, golden_, rows_);
    });
  }

 private:
  Dims dims_;
  const Rows& rows_;
  std::once_flag asked_;
  typename C::Golden golden_{};
  std::vector<LazyArray> arrays_;  // the outputs first
};

// The values that a formula gives, and what it answers of bounds.
template <Contract C>
class Derived {
 public:
  Derived(typename C::Args& args, const Rows& rows) {
    C::bind(args, detail::AllocateOutputs{{}, rows.all(), outputs_});
    const std::vector<std::span<double>> values = detail::not_empty(outputs_);
    if (!values.empty()) answers_ = LinkedAnswers<C>::make(args, rows, values);
  }
  std::span<const double> golden(int output) const { return outputs_.at(static_cast<std::size_t>(output)).values(); }
  Legality has_rules(const Numerics& n) const { return answers_ ? answers_->has_rules(n) : Legality::yes(); }
  Numerics words_read(const Numerics& n) const { return answers_ ? answers_->words_read(n) : n; }
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
