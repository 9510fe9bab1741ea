// SPDX-License-Identifier: Apache-2.0
// The elements of an array of f64: copies share them until one of them is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>

namespace assay::formula {

class Numbers {
 public:
  // Where an array begins, in elements.  Note: Eigen adds up a row from its first aligned element, so that the last bit of a sum
  // depends on where the row lies.
  static constexpr std::size_t kAlignment = 8;

  Numbers() = default;
  Numbers(std::initializer_list<double> list) : Numbers(list.begin(), list.end()) {}
  template <std::input_iterator Iterator>
  Numbers(Iterator begin, Iterator end) : Numbers(unwritten(static_cast<std::size_t>(std::distance(begin, end)))) {
    std::copy(begin, end, own());
  }
  // Elements of no value yet.
  static Numbers unwritten(std::size_t count) {
    Numbers n;
    n.size_ = count;
    if (count <= 1) return n;
    auto block = std::make_shared_for_overwrite<double[]>(count + kAlignment - 1);
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(block.get()) / sizeof(double) % kAlignment;
    double* const first = block.get() + (kAlignment - beyond) % kAlignment;
    n.shared_ = std::shared_ptr<double[]>(std::move(block), first);
    return n;
  }
  static Numbers all(std::size_t count, double v) {
    Numbers n = unwritten(count);
    std::fill_n(n.own(), count, v);
    return n;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const double* data() const { return shared_ ? shared_.get() : &alone_; }
  const double* begin() const { return data(); }
  const double* end() const { return data() + size_; }
  double operator[](std::size_t i) const { return data()[i]; }

  // Some of them, which are shared too.
  Numbers part(std::size_t first, std::size_t count) const {
    Numbers n;
    n.size_ = count;
    if (count > 1) n.shared_ = std::shared_ptr<double[]>(shared_, shared_.get() + first);
    else if (count == 1) n.alone_ = (*this)[first];
    return n;
  }
  // To write to: what was shared is copied first.
  double* own() {
    if (!shared_) return &alone_;
    if (shared_.use_count() > 1) {
      Numbers copy = unwritten(size_);
      std::copy(begin(), end(), copy.shared_.get());
      *this = std::move(copy);
    }
    return shared_.get();
  }

 private:
  std::size_t size_ = 0;
  double alone_ = 0;  // of one
  std::shared_ptr<double[]> shared_;
};

}  // namespace assay::formula
