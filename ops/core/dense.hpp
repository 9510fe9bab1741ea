// SPDX-License-Identifier: Apache-2.0
// Contiguous tensors.
#pragma once

#include <initializer_list>

#include "ops/core/tensor.hpp"

namespace assay {

// Sets the strides to those of a contiguous row-major tensor.  A stride that 64 bits cannot hold wraps; what has it is empty, or
// refused for its size.
inline void make_contiguous(Tensor& t) {
  std::uint64_t stride = 1;
  for (int a = t.rank - 1; a >= 0; --a) {
    t.stride[a] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(t.shape[a]);
  }
}

inline Tensor dense(void* data, DType dtype, std::initializer_list<std::int64_t> shape) {
  Tensor t{.data = data, .dtype = dtype};
  for (const std::int64_t extent : shape) t.shape[t.rank++] = extent;
  make_contiguous(t);
  return t;
}

}  // namespace assay
