// SPDX-License-Identifier: Apache-2.0
// Divides the workspace of a pipeline of vendor calls and kernels: matrices one after the other, then what the library needs.
// With a null address it only counts, and its matrices have the same alignment as they will have.
#pragma once

#include <cstddef>

#include "ops/core/kernel.hpp"

namespace assay::vendor {

class Workspace {
 public:
  explicit Workspace(void* data) : data_(static_cast<std::byte*>(data)) {}

  // Takes a matrix, which starts at a multiple of 256 bytes, as the workspace does, and has rows at multiples of 16 bytes.
  Tensor matrix(DType t, std::int64_t rows, std::int64_t columns) {
    const std::int64_t in_chunk = 16 / size_of(t), pitch = (columns + in_chunk - 1) / in_chunk * in_chunk;
    void* const at = rest();
    used_ += (static_cast<std::size_t>(rows * pitch * size_of(t)) + kAlignment - 1) / kAlignment * kAlignment;
    return {.data = at, .dtype = t, .rank = 2, .shape = {rows, columns}, .stride = {pitch, 1}};
  }
  std::size_t used() const { return used_; }
  void* rest() const { return data_ ? data_ + used_ : nullptr; }

 private:
  static constexpr std::size_t kAlignment = 256;
  std::byte* data_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace assay::vendor
