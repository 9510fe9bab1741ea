// SPDX-License-Identifier: Apache-2.0
// A tensor typed at run time: data, dtype, shape and strides.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "ops/core/dtype.hpp"

namespace assay {

inline constexpr int kMaxRank = 6;

struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;  // 0: absent
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> stride{};  // in elements

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  std::int64_t size() const {
    std::int64_t n = rank ? 1 : 0;
    for (int i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
  std::int64_t bytes() const { return size() * size_of(dtype); }
  bool contiguous() const {
    std::int64_t expected = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (shape[i] != 1 && stride[i] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }
  // Whether the elements of each row are contiguous; rows may be strided.
  bool rows_contiguous() const { return rank == 0 || shape[rank - 1] <= 1 || stride[rank - 1] == 1; }
  // Whether every row (along the last axis) starts at a multiple of `bytes`.
  bool rows_aligned(std::int64_t bytes) const {
    if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes)) return false;
    for (int i = 0; i + 1 < rank; ++i)
      if (shape[i] > 1 && stride[i] * size_of(dtype) % bytes) return false;
    return true;
  }
  // The element offset of a row-major linear index.
  std::int64_t offset(std::int64_t linear) const {
    std::int64_t at = 0;
    for (int i = rank - 1; i >= 0; --i) {
      at += linear % shape[i] * stride[i];
      linear /= shape[i];
    }
    return at;
  }
  // The index along each axis of a row-major linear index.
  std::array<std::int64_t, kMaxRank> index(std::int64_t linear) const {
    std::array<std::int64_t, kMaxRank> at{};
    for (int i = rank - 1; i >= 0; --i) {
      at[static_cast<std::size_t>(i)] = linear % shape[i];
      linear /= shape[i];
    }
    return at;
  }
  double at(std::int64_t linear) const { return decode(dtype, data, offset(linear)); }
  void set(std::int64_t linear, double v) const { encode(dtype, data, offset(linear), v); }
};

}  // namespace assay
