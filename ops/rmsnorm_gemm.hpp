// SPDX-License-Identifier: Apache-2.0
// RMSNorm + linear:  y[t,o] = sum_h x[t,h] r_t gamma[h] * weight[o,h],  r_t = 1 / sqrt(mean_h(x[t,h]^2) + epsilon)
//
// RMSNorm: Zhang, Sennrich 2019, arXiv 1910.07467.  A NaN or inf in x makes its own token NaN (inf: r = 0, and inf r is NaN), in
// gamma it affects every output, in weight its own feature.  A row of zeros gives zeros, with epsilon = 0 NaN.  The unfused
// pipeline stores x r gamma.
#pragma once

#include <limits>

#include "ops/core/gemm_bound.hpp"

namespace assay {

struct rmsnorm_gemm {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor gamma;   // [hidden]
    Tensor weight;  // [out, hidden]
    Tensor y;       // [tokens, out], written
    double epsilon = 1e-5;
  };
  struct Golden {
    Array y;           // [tokens, out]
    Array sum_abs;     // [tokens, out], sum |x r gamma w|
    Array sum_sq;      // [tokens, out], sum (x r gamma w)^2
    Array square;      // [tokens], mean of x^2
    Array row_abs;     // [tokens], sum |x| r
    Array weight_abs;  // [out], sum (1 + |gamma|) |w|
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 1}, {Axis::out, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::hidden});
    v.weight("gamma", a.gamma, {Axis::hidden});
    v.weight("weight", a.weight, {Axis::out, Axis::hidden});
    v.output("y", a.y, {Axis::tokens, Axis::out});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::tokens, Axis::out});
    v.array("sum_abs", g.sum_abs, {Axis::tokens, Axis::out});
    v.array("sum_sq", g.sum_sq, {Axis::tokens, Axis::out});
    v.array("square", g.square, {Axis::tokens});
    v.array("row_abs", g.row_abs, {Axis::tokens});
    v.array("weight_abs", g.weight_abs, {Axis::out});
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // u, u_h: unit roundoffs of the accumulator and of the storage dtype; A, S: sum |.| and root of sum (.)^2 of the terms
  // x r gamma w; m = mean(x^2).
  //
  // rho, the relative error of r.  m has n roundings: each square, the chain of additions, the division.  All terms are positive,
  // so partial sums are at most m: coherent n u m; independent, a random walk of n steps of u m / sqrt(3): lambda sqrt(n) u m.
  // Underflow of the squares and of their mean: half the least subnormal each.  epsilon is rounded and added: 2 u.  A relative
  // error d of m + epsilon gives 1/sqrt(1 - d) - 1 in r; root and division add root_error u and quotient_error u.
  static double inverse_rms_error(const Args& a, const Numerics& numerics, Errors errors, double square) {
    const std::int64_t hidden = a.x.shape[1];
    const double u = unit_roundoff(numerics.accumulate), total = square + a.epsilon;
    const double n = static_cast<double>(numerics.chain.roundings(hidden) + 1 + division_roundings(hidden));
    const double d = (walked(errors, n) * u * square + 2 * u * total + 2 * rounding_floor(numerics.accumulate)) / total;
    if (!(d < 1)) return std::numeric_limits<double>::infinity();
    return 1 / std::sqrt(1 - d) - 1 + (numerics.root_error + numerics.quotient_error) * u;
  }

  //   r         multiplies the whole row: rho |y|.
  //   terms     x r and gamma (or gamma w, and r at the end): 2 roundings with u each; x r gamma stored, or gamma w rounded for
  //             the tensor core: 1 with u_h.  If each term rounds q times with v: coherent q v A; independent lambda sqrt(q) v S.
  //             Underflow of x r or x r gamma is multiplied by |gamma w| or |w| (weight_abs), that of gamma w by |x r|.
  //   products  gemm_bound.hpp; if r is applied at the end, it multiplies their underflow.
  //   y         r applied: u |y|; the rounding to the dtype.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t hidden = a.x.shape[1], out = a.y.shape[1], token = i / out;
    const DType chip = numerics.accumulate, storage = a.y.dtype;
    const double u = unit_roundoff(chip), y = g.y[i], sum_abs = g.sum_abs[i], sum_sq = g.sum_sq[i];

    const double square = g.square[token], total = square + a.epsilon;
    const double rho = inverse_rms_error(a, numerics, errors, square);

    const auto each_term = [&](double roundings, double unit) {
      const double worst = roundings * unit * sum_abs;
      return errors == Errors::coherent ? worst : std::min(worst, deviations(errors) * std::sqrt(roundings * sum_sq) * unit);
    };
    double t = each_term(2, u) + rounding_floor(chip) * g.weight_abs[i % out], grown = 1;
    if (numerics.stores_intermediate || numerics.rounds_weights) {
      const double under = numerics.rounds_weights ? g.row_abs[token] : g.weight_abs[i % out];
      t += each_term(1, unit_roundoff(storage)) + rounding_floor(storage) * under;
      grown += unit_roundoff(storage);
    }
    t += grown * product_error(numerics, errors, hidden, y, sum_abs, sum_sq);
    t += (static_cast<double>(hidden) + 2) * 2 * rounding_floor(chip) / std::sqrt(total);
    t = t * (1 + rho) + rho * std::fabs(y);
    t += rounding_error(chip, y, t);
    return t + rounding_error(storage, y, t);
  }

  // Reads x, gamma and weight, writes y; the product, and 4 operations per element of x for the norm.  Unfused, x r gamma is also
  // written and read.
  static Cost cost(const Args& a) {
    const double x = static_cast<double>(a.x.bytes()), y = static_cast<double>(a.y.bytes());
    const double weights = static_cast<double>(a.gamma.bytes() + a.weight.bytes()), channels = static_cast<double>(a.x.size());
    return {.flops = 2.0 * channels * static_cast<double>(a.y.shape[1]) + 4.0 * channels,
            .bytes_read = x + weights,
            .bytes_written = y,
            .unfused_bytes = 3 * x + weights + y};
  }
};

}  // namespace assay
