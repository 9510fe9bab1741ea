// SPDX-License-Identifier: Apache-2.0
// Workspace of a pipeline of a vendor's calls and kernels of ours: matrices one after the other, then what the library asks for.
// Without an address (null) it counts only, and its matrices have the alignment that they will have.
#pragma once

#include <cstddef>

#include "ops/core/kernel.hpp"

namespace assay::vendor {

class Workspace {
 public:
  explicit Workspace(void* data) : data_(static_cast<std::byte*>(data)) {}

  // Rows start at multiples of 16 bytes, the matrix at one of 256, as the workspace itself does.
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
