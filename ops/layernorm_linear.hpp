// SPDX-License-Identifier: Apache-2.0
// LayerNorm + linear:  y[t,o] = sum_h n[t,h] weight[o,h]  (+ bias[o]),  n[t,h] = (x[t,h] - mean_t) r_t gamma[h] + beta[h]
//                      r_t = 1 / sqrt(var_t + epsilon), var the biased variance
//
// LayerNorm: Ba, Kiros, Hinton 2016, arXiv 1607.06450, eq. 4.  A NaN or inf in x affects its own token, in gamma or beta
// every output, in weight or bias its own feature.  A constant row gives beta W^T; with epsilon = 0 NaN.  The unfused pipeline
// stores n.
#pragma once

#include "ops/core/gemm_bound.hpp"
#include "ops/core/norm_bound.hpp"

namespace assay {

struct layernorm_linear {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor gamma;   // [hidden]
    Tensor beta;    // [hidden]
    Tensor weight;  // [out, hidden]
    Tensor bias;    // [out]; absent: none
    Tensor y;       // [tokens, out], written
    bool has_bias = false;
    double epsilon = 1e-5;
  };
  // xhat = (x - mean) r, w the weight.
  struct Golden {
    Array y;           // [tokens, out]
    Array sum_abs;     // [tokens, out], A = sum (|xhat gamma| + |beta|) |w|
    Array sum_sq;      // [tokens, out], S^2 = sum ((|xhat gamma| + |beta|) w)^2
    Array centred;     // [tokens, out], |sum xhat gamma w|
    Array mean;        // [tokens], of x
    Array mean_abs;    // [tokens], mean of |x|
    Array variance;    // [tokens], of x
    Array gain;        // [out], |sum gamma w|
    Array gain_abs;    // [out], G = sum |gamma w|
    Array gain_sq;     // [out], sum (gamma w)^2
    Array shift_abs;   // [out], B = sum |beta w|
    Array weight_abs;  // [out], sum (1 + |gamma|) |w|
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 1}, {Axis::out, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::hidden});
    v.weight("gamma", a.gamma, {Axis::hidden});
    v.weight("beta", a.beta, {Axis::hidden});
    v.weight("weight", a.weight, {Axis::out, Axis::hidden});
    v.weight("bias", a.bias, {Axis::out}, {.present_if = "bias"});
    v.output("y", a.y, {Axis::tokens, Axis::out});
    v.choice("bias", a.has_bias, {"no", "yes"});
    v.attribute("epsilon", a.epsilon, 1e-5);
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    const AxisList of_y = {Axis::tokens, Axis::out};
    v.array("y", g.y, of_y);
    v.array("sum_abs", g.sum_abs, of_y);
    v.array("sum_sq", g.sum_sq, of_y);
    v.array("centred", g.centred, of_y);
    v.array("mean", g.mean, {Axis::tokens});
    v.array("mean_abs", g.mean_abs, {Axis::tokens});
    v.array("variance", g.variance, {Axis::tokens});
    v.array("gain", g.gain, {Axis::out});
    v.array("gain_abs", g.gain_abs, {Axis::out});
    v.array("gain_sq", g.gain_sq, {Axis::out});
    v.array("shift_abs", g.shift_abs, {Axis::out});
    v.array("weight_abs", g.weight_abs, {Axis::out});
  }

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
  }

  // u, u_o: unit roundoffs of the accumulator and of the dtype; A, S, G, B as in Golden.  If each term rounds q times with unit
  // roundoff v, the sum is off by q v A, or lambda sqrt(q) v S for independent errors.
  //   mean, r   norm_bound.hpp, worst case.  The whole row shares one mean and one r, so their errors multiply whole sums:
  //             r dmean (1 + rho) |sum gamma w|, rho |sum xhat gamma w|.
  //   terms     x - mean, its product with r, that with gamma, beta added: q = 4 with u.
  //   stored n  q = 1 with u_o; subnormal n: half the least subnormal times |w|.
  // If gamma w is rounded (rounds_weights), the product is of x - pivot, pivot = mean rounded to the dtype, d = mean - pivot:
  //   y = r (sum (x - pivot) gamma w - d sum gamma w) + sum beta w, |d| <= |mean - rounded mean| + 2 dmean, since the distance to
  //   the nearest number of the dtype changes by at most dmean
  //   terms     x - pivot: u_o |x - mean| + u_o |d|; gamma w: u_o, the same error in both sums, so it counts on (x - mean)
  //             gamma w: q = 2 with u_o on A, q = 1 on |d| r G.  Underflow, in halves of the least subnormal: of gamma w, times
  //             sum |xhat| <= hidden; of x - pivot, which is scaled to deviation 1 ... 2 by a power of two, 2 G.  The mean's
  //             error multiplies the rounded gamma w: u_o G more.
  //   sums      of gamma w and beta w: n u |d| r G and n u B; independent: lambda sqrt(n).
  //   joined    four operations: 3u(|sum xhat gamma w| + |d| r |sum gamma w|) + 2u B.
  // product     gemm_bound.hpp, of A + |d| r G.
  // Then the rounding of what is stored before the bias, the bias, and the rounding to the dtype.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t hidden = a.x.shape[1], out = a.y.shape[1], token = i / out, o = i % out;
    const DType chip = numerics.accumulate, storage = a.y.dtype;
    const double u = unit_roundoff(chip), u_o = unit_roundoff(storage), floor = rounding_floor(chip);
    const double floor_o = rounding_floor(storage), width = static_cast<double>(hidden), y = g.y[i];
    const double abs = g.sum_abs[i], sq = g.sum_sq[i], gain_abs = g.gain_abs[o];
    const bool coherent = errors == Errors::coherent;
    const auto each_term = [&](double roundings, double unit, double sum, double squares) {
      const double worst = roundings * unit * sum;
      return coherent ? worst : std::min(worst, deviations(errors) * std::sqrt(roundings * squares) * unit);
    };

    // The errors of mean and r.
    const double variance = g.variance[token], total = variance + a.epsilon, r = 1 / std::sqrt(total);
    const double n = mean_roundings(numerics, errors, hidden), dmean = n * u * g.mean_abs[token] + floor, share = (n + 3) * u;
    const double rho = inverse_root_error(numerics, total, dmean * dmean + share * (variance + dmean * dmean) + 2 * floor,
                                          share * variance + 2 * floor);
    const double gain = g.gain[o] + (numerics.rounds_weights ? u_o * gain_abs : 0);
    double t = r * dmean * (1 + rho) * gain + rho * g.centred[i];

    // The terms, and the correction by d of the pivot form.
    double shifted = 0, shifted_sq = 0;
    t += each_term(4, u, abs, sq) + 2 * floor * g.weight_abs[o];
    if (numerics.stores_intermediate) t += each_term(1, u_o, abs, sq) + floor_o * g.weight_abs[o];
    if (numerics.rounds_weights) {
      const double mean = g.mean[token], d = (std::fabs(mean - round_to(storage, mean)) + 2 * dmean) * r;
      const double chain = mean_roundings(numerics, Errors::coherent, hidden) + 1, shift = g.shift_abs[o];
      shifted = d * gain_abs;
      shifted_sq = d * d * g.gain_sq[o];
      t += each_term(2, u_o, abs, sq) + each_term(1, u_o, shifted, shifted_sq) + floor_o * (width + 2 * gain_abs);
      t += walked(errors, chain) * u * (shifted + shift);
      t += 3 * u * (g.centred[i] + d * g.gain[o]) + 2 * u * shift;
    }
    const double product = std::fabs(a.bias.data ? y - a.bias.at(o) : y);
    t += (1 + 2 * u_o) * product_error(numerics, errors, hidden, product + shifted, abs + shifted, sq + shifted_sq);
    t += (width + 2) * 2 * floor;  // underflow in the product is later multiplied by r over its power of two, at most 2
    if (numerics.stores_every_step && a.bias.data) t += rounding_error(storage, product, t);
    if (a.bias.data) t += rounding_error(chip, y, t);
    return (t + rounding_error(storage, y, t)) * kSecondOrder;
  }

  // Reads x and the weights, writes y; the product, and 8 operations per element of x for the norm.  Unfused, n is also written
  // and read.
  static Cost cost(const Args& a) {
    const double x = static_cast<double>(a.x.bytes()), y = static_cast<double>(a.y.bytes());
    const double vectors = static_cast<double>(a.gamma.bytes() + a.beta.bytes() + (a.has_bias ? a.bias.bytes() : 0));
    const double weights = vectors + static_cast<double>(a.weight.bytes());
    const double channels = static_cast<double>(a.x.size());
    return {.flops = 2.0 * channels * static_cast<double>(a.y.shape[1]) + 8.0 * channels,
            .bytes_read = x + weights,
            .bytes_written = y,
            .unfused_bytes = 3 * x + weights + y};
  }
};

}  // namespace assay
