// SPDX-License-Identifier: Apache-2.0
// Makes an Op of a contract and a Kernel of a kernel's traits (type erasure).  Included where an op enters itself
// (cmake/op.in).
#pragma once

#include <algorithm>
#include <concepts>
#include <mutex>
#include <stdexcept>

#include "ops/core/linked.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/op_visitors.hpp"

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

template <class Op>
concept Contract = (Staged<Op> || Bounded<Op>)&&requires(typename Op::Args a, const typename Op::Args ca) {
  { Op::legal(ca) } -> std::same_as<Legality>;
  { Op::cost(ca) } -> std::same_as<Cost>;
  Op::bind(a, detail::IgnoreAll{});
  std::span<const AxisUse>(Op::axes);
};

template <Contract C>
class TypedProblem final : public Problem {
 public:
  TypedProblem() { C::bind(args_, detail::CollectTensors(tensors_)); }
  std::span<Tensor* const> tensors() override { return tensors_; }
  void set_attribute(std::string_view name, double value) override { C::bind(args_, detail::SetAttribute(name, value)); }
  const void* args() const override { return &args_; }
  Legality legal() const override { return C::legal(args_); }
  Cost cost() const override { return C::cost(args_); }
  void solve(std::vector<std::int64_t> sample) override {
    detail::ReadDims read;
    C::bind(args_, read);
    rows_ = {.total = read.rows, .sample = std::move(sample)};
    last_ = read.last;
    by_formula_.reset();
    by_contract_ = std::make_unique<ByContract>(read.dims);
    forget_bounds();
    if (!judged_by_formulas() || !LinkedAnswers<C>::make) return by_contract_->solve(args_, rows_);
    by_formula_ = std::make_unique<ByFormula>();
    C::bind(args_, detail::AllocateOutputs{{}, rows_.all(), by_formula_->outputs});
    const std::vector<std::span<double>> values = detail::not_empty(by_formula_->outputs);
    if (!values.empty()) by_formula_->answers = LinkedAnswers<C>::make(args_, rows_, values);
  }
  SolveMemory memory(const Rows& rows, bool /*given*/) override {
    detail::ReadDims read;
    C::bind(args_, read);
    detail::CountArrays count{read.dims, rows};
    Op described;
    C::bind(args_, detail::DescribeArgs{described});
    for (const TensorSpec& t : described.tensors)
      if (t.role == Role::output) count.output(t);
    typename C::Golden golden;
    C::bind(golden, count);
    return {count.bytes, count.bytes > 0 && LinkedGolden<C>::scratch ? LinkedGolden<C>::scratch(args_, rows) : 0};
  }
  const Rows& rows() const override { return rows_; }
  std::int64_t row_of(int output, std::int64_t i) const override {
    if constexpr (requires { C::row_of(args_, output, i); }) return C::row_of(args_, output, i);
    else return i / last_;
  }
  std::int64_t row_length(int /*output*/) const override {
    if constexpr (requires { C::row_of(args_, 0, 0); }) return 0;
    else return last_;
  }
  bool by_formula(const Numerics& n) const override {
    return by_formula_ && by_formula_->answers && by_formula_->answers->has_rules(n);
  }
  std::vector<LazyArray> bounds_by_formula(Errors errors, const Numerics& n) const override {
    std::vector<LazyArray> all;
    for (const LazyArray& golden : by_formula_->outputs) all.emplace_back(golden.values().size(), rows_.all());
    by_formula_->answers->bounds(errors, n, detail::not_empty(all));
    return all;
  }
  std::span<const double> golden(int output) const override {
    return (by_formula_ ? by_formula_->outputs : by_contract_->arrays).at(static_cast<std::size_t>(output)).values();
  }
  double bound_with(Errors errors, const Numerics& n, int output, std::int64_t i) const override {
    if (by_formula(n)) return Bounds(*this, n, output, errors)[i];
    if constexpr (Bounded<C>) {
      if (by_formula_) std::call_once(by_contract_->asked, [this] { by_contract_->solve(args_, rows_); });  // it lacks a rule
      return C::bound(args_, by_contract_->golden, n, errors, output, i);
    } else {
      throw std::logic_error("a composite op has no bound of its own");
    }
  }

 private:
  // Goldens, then what the contract's bound needs.
  struct ByContract {
    Dims dims;
    typename C::Golden golden{};
    std::vector<LazyArray> arrays{};
    std::once_flag asked{};  // for the bound, by a problem that was solved by its formula
    explicit ByContract(const Dims& d) : dims(d) {}
    void solve(const typename C::Args& args, const Rows& rows) {
      C::bind(golden, detail::AllocateArrays{dims, rows.all(), arrays});
      // Note: a loop over an axis of 2^40 indices takes long even if the other extent is zero.
      if (detail::not_empty(arrays).empty()) return;
      if (!LinkedGolden<C>::solve) throw std::logic_error("this program has no golden of the op");
      LinkedGolden<C>::solve(args, golden, rows);
    }
  };
  struct ByFormula {
    std::vector<LazyArray> outputs;
    std::unique_ptr<FormulaAnswers> answers;  // null: there are no elements
  };

  typename C::Args args_;
  std::vector<Tensor*> tensors_;
  std::unique_ptr<ByContract> by_contract_ = std::make_unique<ByContract>(Dims{});
  std::unique_ptr<ByFormula> by_formula_;  // null: it was solved by the contract
  Rows rows_;
  std::int64_t last_ = 1;
};

template <Contract C>
Op make_op(std::string_view name) {
  Op op{.name = name, .axes = C::axes, .hooks = LinkedHooks<C>::make ? LinkedHooks<C>::make() : Hooks{}};
  typename C::Args args;
  C::bind(args, detail::DescribeArgs{op});
  op.make = []() -> std::unique_ptr<Problem> {
    auto problem = std::make_unique<TypedProblem<C>>();
    if constexpr (Staged<C>) {
      Op described;
      typename C::Args each;
      C::bind(each, detail::DescribeArgs{described});
      return make_composite(std::move(problem), std::move(described.tensors),
                            [](const void* a) { return C::stages(*static_cast<const typename C::Args*>(a)); });
    } else {
      return problem;
    }
  };
  op.composite = Staged<C>;
  op.has_formula = LinkedAnswers<C>::make != nullptr;
  return op;
}

template <Contract C>
Kernel make_kernel(const LinkedKernel<C>& linked) {
  const KernelTraits<C>& traits = linked.traits;
  Kernel k{.op = linked.op,
           .name = stem(linked.file),
           .about = linked.about,
           .broken = linked.file.find("/broken/") != std::string_view::npos,
           .variant = linked.file.find("/variants/") != std::string_view::npos,
           .dtypes = traits.dtypes,
           .min_arch = traits.min_arch,
           .only_arch = traits.only_arch,
           .deterministic = traits.deterministic,
           .finite_inputs = traits.finite_inputs,
           .position_matters = traits.position_matters,
           .tiles = traits.tiles,
           .numerics = traits.numerics,
           .available = traits.available ? traits.available : [] { return Legality::yes(); },
           .supports = linked.supports,
           .workspace_bytes = linked.workspace_bytes};
  (linked.flavour == Flavour::on_gpu ? k.on_gpu : k.on_simt) = linked.run;
  return k;
}

template <Contract C>
void add_kernels(std::vector<Kernel>& to) {
  for (const LinkedKernel<C>* k = LinkedKernel<C>::first; k; k = k->next) to.push_back(make_kernel(*k));
}

}  // namespace assay
