// SPDX-License-Identifier: Apache-2.0
// Freivalds' check of y = z w^T + b, all rows, at the cost of a few matrix-vector products (Freivalds 1977, "Probabilistic
// machines can use less running time"): with random signs v, y v must be z (w^T v) + b v.
//
// An element that is wrong by d moves its row's sum by +-d.  Correct elements err by at most T_j, the op's bound, independently
// of v, so the row's sum is off by at most lambda sqrt(sum T_j^2).  Minkowski's inequality bounds this root: in the formula of
// T_j (ops/core/gemm_bound.hpp), a norm over the row's features takes the place of each magnitude of one element.  ||y|| takes
// that of |c|, sqrt(sum_h z_h^2 ||w_h||^2) that of S, sum_h |z_h| ||w_h|| that of A.  A term that is equal for all features is
// multiplied by sqrt(features).  Several v are used, since wrong elements of one row might cancel under one.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "ops/core/gemm_bound.hpp"
#include "ops/core/stored.hpp"
#include "validate/values/random.hpp"

namespace assay::freivalds {

inline constexpr int kProbes = 8;

// Norms over the features of a row of y and of its terms z w.
struct Norms {
  double y;        // of the computed row
  double sum_sq;   // S^2
  double sum_abs;  // A; infinite for independent errors, so that min(coherent, independent) takes the other form
};

// w [out, hidden], b [out] or absent, y [tokens, out].  load(t, z) writes row t of z, `hidden` values in f64.
// allowed(t, norms, sum): the allowed error of the row's sum.  Returns the largest ratio of error to allowed error; infinite if
// one of computed and expected sum is finite and the other is not.
template <class Load, class Allowed>
double margin(const Tensor& w, const Tensor& b, const Tensor& y, Errors errors, std::uint64_t seed, Load&& load,
              Allowed&& allowed) {
  const std::int64_t tokens = y.shape[0], out = y.shape[1], hidden = w.shape[1];
  const auto sign = [&](int probe, std::int64_t o) {
    return random::sign(random::key(seed, static_cast<std::uint64_t>(probe), random::Purpose::sign),
                        static_cast<std::uint64_t>(o));
  };
  std::vector<double> u(static_cast<std::size_t>(kProbes * hidden)), squares(static_cast<std::size_t>(hidden));
  double bias[kProbes] = {};
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
  for (std::int64_t o = 0; b.data && o < out; ++o)
    for (int p = 0; p < kProbes; ++p) bias[p] += sign(p, o) * b.at(o);

  double worst = 0;
#pragma omp parallel reduction(max : worst)
  {
    std::vector<double> z(static_cast<std::size_t>(hidden));
#pragma omp for schedule(static)
    for (std::int64_t t = 0; t < tokens; ++t) {
      double right[kProbes], got[kProbes] = {}, sum_sq = 0, sum_abs = 0, norm = 0;
      std::copy(std::begin(bias), std::end(bias), right);
      load(t, std::span<double>(z));
      for (std::int64_t h = 0; h < hidden; ++h) {
        const double value = z[static_cast<std::size_t>(h)], square = squares[static_cast<std::size_t>(h)];
        for (int p = 0; p < kProbes; ++p) right[p] += value * u[static_cast<std::size_t>(h * kProbes + p)];
        sum_sq += value * value * square;
        sum_abs += std::fabs(value) * std::sqrt(square);
      }
      for (std::int64_t o = 0; o < out; ++o) {
        const double value = decode(y.dtype, y.data, t * y.stride[0] + o * y.stride[1]);
        for (int p = 0; p < kProbes; ++p) got[p] += sign(p, o) * value;
        norm += value * value;
      }
      const Norms norms{std::sqrt(norm), sum_sq, errors == Errors::coherent ? sum_abs : HUGE_VAL};
      for (int p = 0; p < kProbes; ++p) {
        if (std::isfinite(right[p]) != std::isfinite(got[p])) worst = HUGE_VAL;
        else if (std::isfinite(right[p]) && got[p] != right[p])
          worst = std::max(worst, std::fabs(got[p] - right[p]) / allowed(t, norms, right[p]));
      }
    }
  }
  return worst;
}

// product_error() of ops/core/gemm_bound.hpp in norms over a row of `count` elements.  The underflow is equal for all of them.
inline double product_error(const Numerics& numerics, Errors errors, std::int64_t k, const Norms& n, double count) {
  const double underflow = (static_cast<double>(k) + 2) * 2 * rounding_floor(numerics.accumulate);
  return assay::product_error(numerics, errors, k, n.y, n.sum_abs, n.sum_sq) + std::sqrt(count) * underflow;
}
// The norm of the errors of rounding each element of a row once.  The row has `count` elements and norm `norm`, within `error`.
inline double rounding_error(DType t, double norm, double error, double count) {
  return unit_roundoff(t) * (norm + error) + std::sqrt(count) * rounding_floor(t);
}

// The bound of ops/linear.hpp for y = x w^T + b, x [tokens, hidden].
inline double linear_margin(const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& y, const Numerics& numerics,
                            Errors errors, std::uint64_t seed) {
  const std::int64_t hidden = w.shape[1];
  const double out = static_cast<double>(y.shape[1]);
  double bias_squares = 0;
  for (std::int64_t o = 0; b.data && o < y.shape[1]; ++o) bias_squares += b.at(o) * b.at(o);
  const auto load = [&](std::int64_t t, std::span<double> z) {
    for (std::int64_t h = 0; h < hidden; ++h)
      z[static_cast<std::size_t>(h)] = decode(x.dtype, x.data, t * x.stride[0] + h * x.stride[1]);
  };
  return margin(w, b, y, errors, seed, load, [&](std::int64_t, const Norms& n, double) {
    double bound = product_error(numerics, errors, hidden, n, out);
    if (b.data) {
      if (const auto as = stored_as(numerics, "before_bias", y.dtype))
        bound += rounding_error(*as, n.y + std::sqrt(bias_squares), bound, out);
      bound += rounding_error(numerics.accumulate, n.y, bound, out);
    }
    return kLambda * (bound + rounding_error(y.dtype, n.y, bound, out));
  });
}

}  // namespace assay::freivalds
