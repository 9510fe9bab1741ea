// SPDX-License-Identifier: Apache-2.0
// Makes an Op of a contract and a Kernel of a kernel's traits (type erasure).  Included only by the generated tables.
#pragma once

#include <algorithm>
#include <concepts>
#include <stdexcept>

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
    storage_.clear();
    forget_bounds();
    C::bind(golden_, detail::AllocateArrays{read.dims, rows_.all(), storage_});
    // Note: a loop over an axis of 2^40 indices takes long even if the other extent is zero.
    const bool empty = std::all_of(storage_.begin(), storage_.end(), [](const LazyArray& a) { return a.values().empty(); });
    if (!empty) golden_of(args_, golden_, rows_);
  }
  SolveMemory memory(const Rows& rows, bool /*given*/) override {
    detail::ReadDims read;
    C::bind(args_, read);
    detail::CountArrays count{read.dims, rows};
    Op described;
    C::bind(args_, detail::DescribeArgs{described});
    for (const TensorSpec& t : described.tensors)
      if (t.role == Role::output) count.output(t);
    C::bind(golden_, count);
    return {count.bytes, count.bytes > 0 ? scratch_of(args_, rows) : 0};
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
  std::span<const double> golden(int output) const override { return storage_.at(static_cast<std::size_t>(output)).values(); }
  double bound_with(Errors errors, const Numerics& n, int output, std::int64_t i) const override {
    if constexpr (Bounded<C>) return C::bound(args_, golden_, n, errors, output, i);
    else throw std::logic_error("a composite op has no bound of its own");
  }

  // Calls reference::golden().  The generated tables declare its overload for this op, so a wrong signature fails to link.
  static void golden_of(const typename C::Args& a, typename C::Golden& g, const Rows& rows);
  static double scratch_of(const typename C::Args& a, const Rows& rows);  // reference::scratch()

 private:
  typename C::Args args_;
  typename C::Golden golden_;
  std::vector<Tensor*> tensors_;
  std::vector<LazyArray> storage_;
  Rows rows_;
  std::int64_t last_ = 1;
};

template <Contract C>
Op make_op(std::string_view name, std::string_view about, Hooks hooks) {
  Op op{.name = name, .about = about, .axes = C::axes, .hooks = std::move(hooks)};
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
  return op;
}

template <Contract C, void (*Run)(const typename C::Args&, const Launch&)>
void erased_run(const void* args, const Launch& l) {
  Run(*static_cast<const typename C::Args*>(args), l);
}

// Describes a kernel.  Its function pointers take type-erased arguments and call the functions of the traits.
template <Contract C, const KernelTraits<C>& Traits>
Kernel make_kernel(std::string_view op, std::string_view name, std::string_view about, bool broken) {
  return {.op = op,
          .name = name,
          .about = about,
          .broken = broken,
          .dtypes = Traits.dtypes,
          .min_arch = Traits.min_arch,
          .only_arch = Traits.only_arch,
          .deterministic = Traits.deterministic,
          .finite_inputs = Traits.finite_inputs,
          .position_matters = Traits.position_matters,
          .tiles = Traits.tiles,
          .numerics = Traits.numerics,
          .available = [] { return Traits.available ? Traits.available() : Legality::yes(); },
          .supports =
              [](const void* a) {
                return Traits.supports ? Traits.supports(*static_cast<const typename C::Args*>(a)) : Legality::yes();
              },
          .workspace_bytes = [](const void* a) -> std::size_t {
            return Traits.workspace_bytes ? Traits.workspace_bytes(*static_cast<const typename C::Args*>(a)) : 0;
          }};
}

}  // namespace assay
