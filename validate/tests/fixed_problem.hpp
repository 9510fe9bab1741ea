// SPDX-License-Identifier: Apache-2.0
// A problem with given golden and bounds, and tensors that own their memory, for tests of the judge's parts.
#pragma once

#include <cstring>
#include <initializer_list>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay::test {

class FixedProblem : public Problem {
 public:
  FixedProblem(std::vector<double> golden, double bound) : golden_(std::move(golden)), bounds_(golden_.size(), bound) {}
  FixedProblem(std::vector<double> golden, std::vector<double> bounds) : golden_(std::move(golden)), bounds_(std::move(bounds)) {}
  std::span<Tensor* const> tensors() override { return {}; }
  void set_attribute(std::string_view, double) override {}
  const void* args() const override { return nullptr; }
  Legality legal() const override { return Legality::yes(); }
  Cost cost() const override { return {}; }
  void solve(std::vector<std::int64_t> sample = {}, Need = Need::bounds) override { rows_.sample = std::move(sample); }
  const Rows& rows() const override {
    rows_.total = static_cast<std::int64_t>(golden_.size()) / row_length;
    return rows_;
  }
  std::int64_t row_of(int, std::int64_t i) const override { return i / row_length; }
  std::span<const double> golden(int) const override { return golden_; }
  std::span<const double> bounds_with(Errors, const Numerics&, int) const override { return bounds_; }

 private:
  std::vector<double> golden_, bounds_;
  mutable Rows rows_;

 public:
  std::int64_t row_length = 1;
};

// A tensor that owns its memory, filled with `garbage`.  `row_stride`: in elements; 0: rows are contiguous.
class OwnedTensor {
 public:
  OwnedTensor(DType dtype, std::initializer_list<std::int64_t> shape, std::int64_t row_stride = 0,
              std::byte garbage = std::byte{0xff}) {
    t_.dtype = dtype;
    t_.rank = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), t_.shape.begin());
    std::int64_t stride = 1;
    for (int i = t_.rank - 1; i >= 0; --i) {
      t_.stride[static_cast<std::size_t>(i)] = stride;
      stride *= i == t_.rank - 1 && row_stride ? row_stride : t_.shape[static_cast<std::size_t>(i)];
    }
    std::int64_t last = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) last += (t_.shape[i] - 1) * t_.stride[i];
    memory_.assign(t_.size() ? static_cast<std::size_t>((last + 1) * size_of(dtype)) : 0, garbage);
    t_.data = memory_.data();
  }
  OwnedTensor(const OwnedTensor&) = delete;
  OwnedTensor& operator=(const OwnedTensor&) = delete;
  const Tensor& get() const { return t_; }
  std::vector<std::byte>& bytes() { return memory_; }
  void set(const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) t_.set(static_cast<std::int64_t>(i), values[i]);
  }
  void set(std::int64_t i, double v) { t_.set(i, v); }

 private:
  std::vector<std::byte> memory_;
  Tensor t_;
};

}  // namespace assay::test
