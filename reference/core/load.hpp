// SPDX-License-Identifier: Apache-2.0
// Tensor elements as f64, exactly, for any dtype, strides and alignment.
#pragma once

#include <Eigen/Core>

#include "ops/core/tensor.hpp"

namespace assay::reference {

// Elements [begin, begin + count) in row-major order; the last axis is walked without recomputing its offset.
inline Eigen::ArrayXd load(const Tensor& t, std::int64_t begin, std::int64_t count) {
  Eigen::ArrayXd values(count);
  const std::int64_t inner = t.rank == 0 ? 1 : t.shape[t.rank - 1], step = t.rank == 0 ? 1 : t.stride[t.rank - 1];
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t column = (begin + i) % inner, run = std::min(inner - column, count - i);
    const std::int64_t at = t.offset(begin + i);
    for (std::int64_t k = 0; k < run; ++k) values[i + k] = decode(t.dtype, t.data, at + k * step);
    i += run;
  }
  return values;
}

}  // namespace assay::reference
