// SPDX-License-Identifier: Apache-2.0
// Contracts name their tensors and attributes once, in bind(); the visitors here read them.
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

namespace detail {

struct IgnoreAll {
  void input(std::string_view, Tensor&, AxisList, TensorOptions = {}) {}
  void weight(std::string_view, Tensor&, AxisList, TensorOptions = {}) {}
  void output(std::string_view, Tensor&, AxisList, TensorOptions = {}) {}
  void attribute(std::string_view, double&, double) {}
  template <class T>
  void choice(std::string_view, T&, Words) {}
};

struct DescribeArgs {
  Op& op;
  void input(std::string_view n, Tensor&, AxisList a, TensorOptions o = {}) { op.tensors.push_back({n, Role::input, a, o}); }
  void weight(std::string_view n, Tensor&, AxisList a, TensorOptions o = {}) { op.tensors.push_back({n, Role::weight, a, o}); }
  void output(std::string_view n, Tensor&, AxisList a, TensorOptions o = {}) { op.tensors.push_back({n, Role::output, a, o}); }
  void attribute(std::string_view n, double&, double standard) { op.attributes.push_back({n, standard}); }
  template <class T>
  void choice(std::string_view n, T&, Words words) {
    op.attributes.push_back({n, 0, words});
  }
};

struct CollectTensors : IgnoreAll {
  std::vector<Tensor*>& all;
  explicit CollectTensors(std::vector<Tensor*>& into) : all(into) {}
  void input(std::string_view, Tensor& t, AxisList, TensorOptions = {}) { all.push_back(&t); }
  void weight(std::string_view, Tensor& t, AxisList, TensorOptions = {}) { all.push_back(&t); }
  void output(std::string_view, Tensor& t, AxisList, TensorOptions = {}) { all.push_back(&t); }
};

struct FindTensor : IgnoreAll {
  std::string_view name;
  Tensor found{};
  void input(std::string_view n, const Tensor& t, AxisList, TensorOptions = {}) {
    if (n == name) found = t;
  }
  void weight(std::string_view n, const Tensor& t, AxisList, TensorOptions = {}) { input(n, t, {}); }
  void output(std::string_view n, const Tensor& t, AxisList, TensorOptions = {}) { input(n, t, {}); }
};

struct SetAttribute : IgnoreAll {
  std::string_view name;
  double value;
  SetAttribute(std::string_view attribute_name, double to) : name(attribute_name), value(to) {}
  void attribute(std::string_view n, double& target, double) {
    if (n == name) target = value;
  }
  template <class T>
  void choice(std::string_view n, T& target, Words) {
    if (n == name) target = static_cast<T>(static_cast<int>(value));
  }
};

struct CopyOutputs : IgnoreAll {
  std::vector<Tensor> outputs{};
  void output(std::string_view, const Tensor& t, AxisList, TensorOptions = {}) { outputs.push_back(t); }
};

}  // namespace detail

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

}  // namespace assay
