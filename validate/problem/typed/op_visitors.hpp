// SPDX-License-Identifier: Apache-2.0
// Contracts name their tensors, attributes and arrays once, in bind(); the visitors here read them.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
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

// Reads the extent of every axis from the bound tensors.
struct ReadDims : IgnoreAll {
  Dims dims;
  std::int64_t rows = -1, last = 1;  // number of rows, and last extent, of the first output
  void read(const Tensor& t, AxisList shape) {
    int i = 0;
    for (const Extent& e : shape) {
      if (t.rank && e.is_axis()) dims[e.axis] = t.shape[i];
      ++i;
    }
  }
  void input(std::string_view, Tensor& t, AxisList a, TensorOptions = {}) { read(t, a); }
  void weight(std::string_view, Tensor& t, AxisList a, TensorOptions = {}) { read(t, a); }
  void output(std::string_view, Tensor& t, AxisList a, TensorOptions = {}) {
    read(t, a);
    if (rows >= 0) return;
    rows = 1;
    last = t.rank ? t.shape[t.rank - 1] : 1;
    for (int i = 0; i + 1 < t.rank; ++i) rows *= t.shape[i];
  }
};

struct AllocateArrays {
  const Dims& dims;
  bool whole;  // every row will be computed
  std::vector<LazyArray>& storage;
  void array(std::string_view, Array& a, AxisList axes) {
    std::size_t n = 1;
    for (const Extent& e : axes) n *= static_cast<std::size_t>(e.of(dims));
    storage.emplace_back(n, whole);
    a = storage.back().values();
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

// Counts the bytes that arrays will take.  Of an array that has a row for each row of an output, only the pages of solved rows
// are touched.
struct CountArrays {
  const Dims& dims;
  const Rows& rows;
  std::vector<std::vector<std::string>> rows_of{};  // the axes of such arrays, sorted
  double bytes = 0;
  static std::vector<std::string> names_of(std::span<const Extent> shape) {
    std::vector<std::string> names;
    for (const Extent& e : shape) names.push_back(e.text());
    return names;
  }
  void output(const TensorSpec& t) {
    std::vector<std::string> all = names_of(t.axes);
    for (const int times : {0, 1}) {
      if (times == 1) all.pop_back();
      rows_of.push_back(all);
      std::sort(rows_of.back().begin(), rows_of.back().end());
    }
  }
  void array(std::string_view, const Array&, AxisList axes) {
    constexpr double kPage = 4096;
    std::vector<std::string> sorted = names_of(axes);
    std::sort(sorted.begin(), sorted.end());
    double n = 1;
    for (const Extent& e : axes) n *= static_cast<double>(e.of(dims));
    const auto of = std::find(rows_of.begin(), rows_of.end(), sorted);
    if (rows.all() || rows.total == 0 || of == rows_of.end()) return void(bytes += 8 * n);
    const bool whole_rows = (of - rows_of.begin()) % 2 == 0;
    const double row = whole_rows ? static_cast<double>((std::end(axes) - 1)->of(dims)) : 1;
    const double solved = n / std::max(1.0, row) * static_cast<double>(rows.count()) / static_cast<double>(rows.total);
    bytes += std::min(8 * n, solved * (8 * row + kPage));
  }
};

}  // namespace detail

}  // namespace assay
