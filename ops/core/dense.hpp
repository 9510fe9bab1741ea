// SPDX-License-Identifier: Apache-2.0
// Contiguous tensors.
#pragma once

#include <initializer_list>

#include "ops/core/tensor.hpp"

namespace assay {

// Sets the strides to those of a contiguous row-major tensor.
inline void make_contiguous(Tensor& t) {
  for (int a = t.rank - 1; a >= 0; --a) t.stride[a] = a + 1 < t.rank ? t.stride[a + 1] * t.shape[a + 1] : 1;
}

inline Tensor dense(void* data, DType dtype, std::initializer_list<std::int64_t> shape) {
  Tensor t{.data = data, .dtype = dtype};
  for (const std::int64_t extent : shape) t.shape[t.rank++] = extent;
  make_contiguous(t);
  return t;
}

}  // namespace assay
