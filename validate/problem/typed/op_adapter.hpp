// SPDX-License-Identifier: Apache-2.0
// Makes an Op of a contract and a Kernel of a kernel's traits (type erasure).  Included where an op enters itself
// (cmake/op.in).
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "ops/core/linked.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/formula_problem.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/typed/op_visitors.hpp"

namespace assay {

// Whether what the tensors hold, and all arguments together, are legal.
template <Contract C>
Legality legal_arguments(typename C::Args args) {
  Op op;
  C::bind(args, detail::DescribeArgs{op});
  std::vector<Tensor*> tensors;
  C::bind(args, detail::CollectTensors(tensors));
  if (const Legality ok = contents_legal(op.tensors, tensors); !ok) return ok;
  if constexpr (requires { C::legal(args); }) return C::legal(args);
  else return Legality::yes();
}

template <Contract C>
class TypedProblem final : public FormulaProblem {
 public:
  TypedProblem() { C::bind(args_, detail::CollectTensors(tensors_)); }
  std::span<Tensor* const> tensors() override { return tensors_; }
  Tensor tensor(std::string_view name) const override {
    detail::FindTensor find{{}, name};
    typename C::Args args = args_;
    C::bind(args, find);
    return find.found;
  }
  void set_attribute(std::string_view name, double value) override { C::bind(args_, detail::SetAttribute(name, value)); }
  const void* args() const override { return &args_; }
  Legality legal() const override { return legal_arguments<C>(args_); }
  Cost cost() const override {
    if constexpr (requires { C::cost(args_); }) return C::cost(args_);
    need_formula();
    return LinkedAnswers<C>::facts(args_).cost;
  }
  SolveMemory memory(const Rows& rows, bool /*given*/) override {
    need_formula();
    return LinkedAnswers<C>::memory(args_, rows);
  }
  std::int64_t row_of(int output, std::int64_t i) const override {
    if constexpr (requires { C::row_of(args_, output, i); }) return C::row_of(args_, output, i);
    else return FormulaProblem::row_of(output, i);
  }
  std::int64_t row_length(int output) const override {
    if constexpr (requires { C::row_of(args_, 0, 0); }) return 0;
    else return FormulaProblem::row_length(output);
  }

 private:
  static void need_formula() {
    if (!LinkedAnswers<C>::make) throw std::logic_error("this program has no formula of the op");
  }
  std::vector<Tensor> outputs() const override {
    detail::CopyOutputs copy;
    typename C::Args args = args_;
    C::bind(args, copy);
    return copy.outputs;
  }
  std::unique_ptr<FormulaAnswers> answers(const Rows& rows, std::span<const std::span<double>> values, Need need) override {
    need_formula();
    return LinkedAnswers<C>::make(args_, rows, values, need);
  }
  Numerics words_read_of(const Numerics& n) const override { return LinkedAnswers<C>::words_read(args_, n); }

  typename C::Args args_;
  std::vector<Tensor*> tensors_;
};

template <Contract C>
Op make_op(std::string_view name) {
  Op op{.name = name, .axes = C::axes, .hooks = LinkedHooks<C>::make ? LinkedHooks<C>::make() : Hooks{}};
  typename C::Args args;
  C::bind(args, detail::DescribeArgs{op});
  check_axes(op);
  add_contents(op);
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
