// SPDX-License-Identifier: Apache-2.0
// Freivalds' check of y = x w^T + b, all rows, at the cost of a few matrix-vector products (Freivalds 1977, "Probabilistic
// machines can use less running time"): with random signs v, y v must be x (w^T v) + b v.
//
// An element that is wrong by d moves its row's sum by +-d.  Right elements err by T_j each, independently of v, so the row's
// sum strays by lambda sqrt(sum T_j^2), where T_j is the bound of the op (ops/core/gemm_bound.hpp).  By Minkowski that is at
// most the same expression with the norms over the row in place of each element's: |c| -> ||y||, S -> sqrt(sum_h x_h^2
// ||w_h||^2),
// ||w_h|| over the features.  Several v, so that wrong elements of one row do not cancel unseen.
#pragma once

#include <cmath>
#include <vector>

#include "ops/core/gemm_bound.hpp"
#include "validate/random.hpp"

namespace assay {

// x [tokens, hidden], w [out, hidden], b [out] or absent, y [tokens, out].  Returns the largest error over its bound; infinite
// where a sum is finite and should not be, or the other way round.
inline double freivalds_margin(const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& y, const Numerics& numerics,
                               std::uint64_t seed) {
  constexpr int kProbes = 8;
  const std::int64_t tokens = y.shape[0], out = y.shape[1], hidden = x.shape[1];
  const auto sign = [&](int probe, std::int64_t o) {
    return random::sign(random::key(seed, static_cast<std::uint64_t>(probe), random::Purpose::sign),
                        static_cast<std::uint64_t>(o));
  };
  std::vector<double> u(static_cast<std::size_t>(kProbes * hidden)), squares(static_cast<std::size_t>(hidden));
  double bias[kProbes] = {}, bias_squares = 0;
#pragma omp parallel
  {
    std::vector<double> mine(u.size()), mine_squares(squares.size());
#pragma omp for schedule(static)
    for (std::int64_t o = 0; o < out; ++o) {
      double v[kProbes];
      for (int p = 0; p < kProbes; ++p) v[p] = sign(p, o);
      for (std::int64_t h = 0; h < hidden; ++h) {
        const double value = decode(w.dtype, w.data, o * w.stride[0] + h * w.stride[1]);
        for (int p = 0; p < kProbes; ++p) mine[static_cast<std::size_t>(h * kProbes + p)] += v[p] * value;
        mine_squares[static_cast<std::size_t>(h)] += value * value;
      }
    }
#pragma omp critical
    {
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += mine[i];
      for (std::size_t i = 0; i < squares.size(); ++i) squares[i] += mine_squares[i];
    }
  }
  for (std::int64_t o = 0; b.data && o < out; ++o) {
    for (int p = 0; p < kProbes; ++p) bias[p] += sign(p, o) * b.at(o);
    bias_squares += b.at(o) * b.at(o);
  }

  double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (std::int64_t t = 0; t < tokens; ++t) {
    double right[kProbes], got[kProbes] = {}, terms = 0, norm = 0;
    std::copy(std::begin(bias), std::end(bias), right);
    for (std::int64_t h = 0; h < hidden; ++h) {
      const double value = decode(x.dtype, x.data, t * x.stride[0] + h * x.stride[1]);
      for (int p = 0; p < kProbes; ++p) right[p] += value * u[static_cast<std::size_t>(h * kProbes + p)];
      terms += value * value * squares[static_cast<std::size_t>(h)];
    }
    for (std::int64_t o = 0; o < out; ++o) {
      const double value = decode(y.dtype, y.data, t * y.stride[0] + o * y.stride[1]);
      for (int p = 0; p < kProbes; ++p) got[p] += sign(p, o) * value;
      norm += value * value;
    }
    norm = std::sqrt(norm);
    // The worst-case form of product_error is not wanted: its minimum over both forms holds element by element only.
    double bound = product_error(numerics, Errors::independent, hidden, norm, HUGE_VAL, terms);
    if (b.data) {
      if (numerics.stores_intermediate) bound += rounding_error(y.dtype, norm + std::sqrt(bias_squares), bound);
      bound += rounding_error(numerics.accumulate, norm, bound);
    }
    bound =
        kLambda * (bound + rounding_error(y.dtype, norm, bound) + std::sqrt(static_cast<double>(out)) * rounding_floor(y.dtype));
    for (int p = 0; p < kProbes; ++p) {
      if (std::isfinite(right[p]) != std::isfinite(got[p])) worst = HUGE_VAL;
      else if (std::isfinite(right[p]) && got[p] != right[p]) worst = std::max(worst, std::fabs(got[p] - right[p]) / bound);
    }
  }
  return worst;
}

}  // namespace assay
