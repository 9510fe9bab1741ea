// SPDX-License-Identifier: Apache-2.0
// Loads tensor elements as f64, exactly, for any dtype, strides and alignment.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ops/core/tensor.hpp"

namespace assay::reference {

namespace detail {

// Branch-free decode of an f16.  Note: its exponent bias is 112 less than f32's, so the product is exact, also for subnormals;
// results from 2^16 on are inf or NaN.
inline float f16_value(std::uint16_t bits) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
  const float v = std::bit_cast<float>(magnitude) * 0x1p112f, special = std::bit_cast<float>(magnitude | 0x7f800000);
  return std::copysign(v >= 0x1p16f ? special : v, bits & 0x8000 ? -1.0f : 1.0f);
}

// `count` elements of one row, `step` apart.  The dtype switch is outside the loop, so contiguous rows vectorise.
inline void decode_run(const Tensor& t, std::int64_t at, std::int64_t step, std::int64_t count, double* out) {
  const auto each = [&](auto&& value) {
    if (step == 1) {
#pragma omp simd
      for (std::int64_t k = 0; k < count; ++k) out[k] = value(at + k);
    } else {
      for (std::int64_t k = 0; k < count; ++k) out[k] = value(at + k * step);
    }
  };
  using assay::detail::load;
  const void* const data = t.data;
  switch (t.dtype) {
    case f16: return each([data](std::int64_t i) { return f16_value(load<std::uint16_t>(data, i)); });
    case bf16:
      return each([data](std::int64_t i) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(data, i)) << 16);
      });
    case f32: return each([data](std::int64_t i) { return load<float>(data, i); });
    default: return each([&](std::int64_t i) { return decode(t.dtype, data, i); });
  }
}

}  // namespace detail

// Elements [begin, begin + count) in row-major order.
inline Eigen::ArrayXd load(const Tensor& t, std::int64_t begin, std::int64_t count) {
  Eigen::ArrayXd values(count);
  const std::int64_t inner = t.rank == 0 ? 1 : t.shape[t.rank - 1], step = t.rank == 0 ? 1 : t.stride[t.rank - 1];
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t column = (begin + i) % inner, run = std::min(inner - column, count - i);
    const std::int64_t at = t.offset(begin + i);
    detail::decode_run(t, at, step, run, values.data() + i);
    i += run;
  }
  return values;
}

}  // namespace assay::reference
