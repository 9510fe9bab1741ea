// SPDX-License-Identifier: Apache-2.0
// Contracts name their tensors, attributes and arrays once, in bind(); the visitors here read them.
#pragma once

#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "ops/core/rows.hpp"
#include "validate/problem/lazy_array.hpp"
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

// Reads the number of rows, and the last extent, of the first output.
struct ReadRows : IgnoreAll {
  struct Own {
    std::int64_t rows = 1, last = 1;
  };
  std::vector<Own> outputs{};
  void output(std::string_view, Tensor& t, AxisList, TensorOptions = {}) {
    Own& own = outputs.emplace_back();
    if (t.rank) own.last = t.shape[t.rank - 1];
    for (int i = 0; i + 1 < t.rank; ++i) own.rows *= t.shape[i];
  }
};

// Allocates an array for each output of the op; of one that the case lacks, an empty one.
struct AllocateOutputs : IgnoreAll {
  bool whole;
  std::vector<LazyArray>& storage;
  void output(std::string_view, Tensor& t, AxisList, TensorOptions = {}) {
    storage.emplace_back(t.rank ? static_cast<std::size_t>(t.size()) : 0, whole);
  }
};

inline std::vector<std::span<double>> not_empty(const std::vector<LazyArray>& arrays) {
  std::vector<std::span<double>> list;
  for (const LazyArray& a : arrays)
    if (!a.values().empty()) list.push_back(a.values());
  return list;
}

}  // namespace detail

}  // namespace assay
