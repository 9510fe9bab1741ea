// SPDX-License-Identifier: Apache-2.0
// Shared by the second oracles of ops that normalise rows.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "ops/core/tensor.hpp"
#include "validate/ops/rounding.hpp"

namespace assay::norm_oracle {

// x(c) returns an element of the row; y(c, value) receives a result before its final rounding.
template <class X, class Y>
void layernorm(const Rounding& round, std::int64_t cols, double epsilon, const Tensor& gamma, const Tensor& beta, X x, Y y) {
  double sum = 0, squares = 0;
  std::vector<double> d(static_cast<std::size_t>(cols));
  for (std::int64_t c = 0; c < cols; ++c) sum = round(sum + (d[static_cast<std::size_t>(c)] = x(c)));
  const double mean = round(sum / static_cast<double>(cols));
  for (double& v : d) {
    v = round(v - mean);
    squares = round(squares + round(v * v));
  }
  const double deviation = round(std::sqrt(round(round(squares / static_cast<double>(cols)) + round(epsilon))));
  for (std::int64_t c = 0; c < cols; ++c)
    y(c, round(round(round(d[static_cast<std::size_t>(c)] / deviation) * gamma.at(c)) + beta.at(c)));
}

template <class X, class Y>
void rmsnorm(const Rounding& round, std::int64_t cols, double epsilon, const Tensor& gamma, X x, Y y) {
  double squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) squares = round(squares + round(x(c) * x(c)));
  const double root = round(std::sqrt(round(round(squares / static_cast<double>(cols)) + round(epsilon))));
  for (std::int64_t c = 0; c < cols; ++c) y(c, round(round.stored(round(x(c) / root)) * gamma.at(c)));
}

// The second oracle of a norm of rows: of x, or of x + residual, as it is stored or (sum=f32) as it is on the chip.
template <class Op>
void of_rows(const void* args, const Numerics& numerics, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const typename Op::Args*>(args);
  const Rounding round(numerics, roundings, a.x.dtype);
  const std::int64_t cols = a.x.shape[1];
  for (std::int64_t row = 0; row < a.x.shape[0]; ++row) {
    const auto element = [&](std::int64_t c) {
      const double x = a.x.at(row * cols + c);
      if constexpr (requires { a.residual; }) {
        const double sum = round(x + a.residual.at(row * cols + c));
        if constexpr (requires { a.sum; })
          if (a.sum == decltype(a.sum)::in_f32) return std::isinf(round_to(f32, sum)) ? round_to(f32, sum) : sum;
        return round_to(a.s.dtype, sum);
      } else {
        return x;
      }
    };
    const auto store = [&](std::int64_t c, double v) { y[static_cast<std::size_t>(row * cols + c)] = v; };
    if constexpr (requires { a.beta; }) layernorm(round, cols, a.epsilon, a.gamma, a.beta, element, store);
    else rmsnorm(round, cols, a.epsilon, a.gamma, element, store);
  }
}

}  // namespace assay::norm_oracle
