// SPDX-License-Identifier: Apache-2.0
// Erases the types of a contract and of its kernels.  Included by the generated tables only.
#pragma once

#include <concepts>

#include "validate/op.hpp"

namespace assay {

namespace detail {

// Contracts name their tensors, attributes and arrays once, in bind(); each use of the names is a visitor.
struct IgnoreAll {
  void input(std::string_view, Tensor&, AxisList) {}
  void weight(std::string_view, Tensor&, AxisList) {}
  void output(std::string_view, Tensor&, AxisList) {}
  void attribute(std::string_view, double&, double) {}
};

struct DescribeArgs : IgnoreAll {
  Op& op;
  explicit DescribeArgs(Op& described) : op(described) {}
  void input(std::string_view n, Tensor&, AxisList a) { op.tensors.push_back({n, Role::input, a}); }
  void weight(std::string_view n, Tensor&, AxisList a) { op.tensors.push_back({n, Role::weight, a}); }
  void output(std::string_view n, Tensor&, AxisList a) { op.tensors.push_back({n, Role::output, a}); }
  void attribute(std::string_view n, double&, double standard) { op.attributes.emplace_back(n, standard); }
};

struct CollectTensors : IgnoreAll {
  std::vector<Tensor*>& all;
  explicit CollectTensors(std::vector<Tensor*>& into) : all(into) {}
  void input(std::string_view, Tensor& t, AxisList) { all.push_back(&t); }
  void weight(std::string_view, Tensor& t, AxisList) { all.push_back(&t); }
  void output(std::string_view, Tensor& t, AxisList) { all.push_back(&t); }
};

struct SetAttribute : IgnoreAll {
  std::string_view name;
  double value;
  SetAttribute(std::string_view attribute_name, double to) : name(attribute_name), value(to) {}
  void attribute(std::string_view n, double& target, double) {
    if (n == name) target = value;
  }
};

// The extent of every axis, read off the tensors that were bound.
struct ReadDims : IgnoreAll {
  Dims dims;
  void read(const Tensor& t, AxisList axes) {
    int i = 0;
    for (Axis a : axes) dims[a] = t.shape[i++];
  }
  void input(std::string_view, Tensor& t, AxisList a) { read(t, a); }
  void weight(std::string_view, Tensor& t, AxisList a) { read(t, a); }
  void output(std::string_view, Tensor& t, AxisList a) { read(t, a); }
};

struct AllocateArrays {
  const Dims& dims;
  std::vector<std::vector<double>>& storage;
  void array(std::string_view, Array& a, AxisList axes) {
    std::size_t n = 1;
    for (Axis axis : axes) n *= static_cast<std::size_t>(dims[axis]);
    storage.emplace_back(n);
    a = storage.back();
  }
};

}  // namespace detail

template <class Op>
concept Contract = requires(typename Op::Args a, const typename Op::Args ca, const typename Op::Golden g, Numerics n) {
  { Op::legal(ca) } -> std::same_as<Legality>;
  { Op::bound(ca, g, n, 0, std::int64_t{0}) } -> std::same_as<double>;
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
  void solve() override {
    detail::ReadDims read;
    C::bind(args_, read);
    storage_.clear();
    C::bind(golden_, detail::AllocateArrays{read.dims, storage_});
    golden_of(args_, golden_);
  }
  std::span<const double> golden(int output) const override { return storage_.at(static_cast<std::size_t>(output)); }
  double bound(const Numerics& n, int output, std::int64_t i) const override { return C::bound(args_, golden_, n, output, i); }

  // The reference's golden, by overload: one with another signature does not link.
  static void golden_of(const typename C::Args& a, typename C::Golden& g);

 private:
  typename C::Args args_;
  typename C::Golden golden_;
  std::vector<Tensor*> tensors_;
  std::vector<std::vector<double>> storage_;
};

template <Contract C>
Op make_op(std::string_view name, std::string_view about, Hooks hooks) {
  Op op{.name = name, .about = about, .axes = C::axes, .hooks = std::move(hooks)};
  typename C::Args args;
  C::bind(args, detail::DescribeArgs(op));
  op.make = []() -> std::unique_ptr<Problem> { return std::make_unique<TypedProblem<C>>(); };
  return op;
}

template <Contract C, void (*Run)(const typename C::Args&, const Launch&)>
void erased_run(const void* args, const Launch& l) {
  Run(*static_cast<const typename C::Args*>(args), l);
}

// The traits' function pointers take typed arguments; these wrappers, one per kernel, take them erased.
template <Contract C, const KernelTraits<C>& Traits>
Kernel make_kernel(std::string_view op, std::string_view name, std::string_view about, bool broken) {
  return {.op = op,
          .name = name,
          .about = about,
          .broken = broken,
          .dtypes = Traits.dtypes,
          .least_arch = Traits.least_arch,
          .deterministic = Traits.deterministic,
          .tiles = Traits.tiles,
          .numerics = Traits.numerics,
          .supports =
              [](const void* a) {
                return Traits.supports ? Traits.supports(*static_cast<const typename C::Args*>(a)) : Legality::yes();
              },
          .workspace_bytes = [](const void* a) -> std::size_t {
            return Traits.workspace_bytes ? Traits.workspace_bytes(*static_cast<const typename C::Args*>(a)) : 0;
          }};
}

}  // namespace assay
