// SPDX-License-Identifier: Apache-2.0
// Feed-forward block:  y[t,o] = sum_f h[t,f] w2[o,f]  (+ b2[o])
//                      h[t,f] = gelu(z[t,f]),  z[t,f] = sum_c x[t,c] w1[f,c]  (+ b1[f])
//
// Vaswani et al. 2017, arXiv 1706.03762, eq. 2, with GELU instead of ReLU; the forms of gelu are those of gelu_linear.  A NaN or
// inf in x affects its own token, in w1 or b1 every output, in w2 or b2 its own feature.  The unfused pipeline stores z and h;
// one kernel per linear, with gelu fused into the first, stores h.
#pragma once

#include "ops/core/activation.hpp"
#include "ops/core/gemm_bound.hpp"

namespace assay {

struct ffn_gelu {
  struct Args {
    Tensor x;   // [tokens, hidden]
    Tensor w1;  // [ffn, hidden]
    Tensor b1;  // [ffn]; absent: none
    Tensor w2;  // [hidden, ffn]
    Tensor b2;  // [hidden]; absent: none
    Tensor y;   // [tokens, hidden], written
    bool has_bias = false;
    Activation form = Activation::gelu_tanh;
  };
  // Shape [tokens, hidden], except weight_abs; sums run over the units (ffn).  For a unit: A = sum |x w1|,
  // S = sqrt(sum (x w1)^2); p = z - b1; tau = kNear (A + |z|); g: a bound of |gelu'| within tau of z; m = max(|z|, |p|).
  struct Golden {
    Array y;
    Array sum_abs;       // sum |w2 h|
    Array sum_sq;        // sum (w2 h)^2
    Array product_abs;   // sum |w2| g A
    Array product_sq;    // sum (w2 g (S + |p|))^2
    Array product_bias;  // |sum w2 f'(z) p|
    Array stored_abs;    // sum |w2| g m
    Array stored_sq;     // sum (w2 g m)^2
    Array function_abs;  // sum |w2| min((|h| + g tau) q, 0.33 (|z| + tau)), q: of GELU's argument (activation.hpp)
    Array argument_abs;  // sum |w2| (|z| + tau)
    Array weight_abs;    // [hidden], sum |w2|
  };
  static constexpr double kNear = 0x1p-7;
  // At most this times |z|, per unit of relative error of gelu's argument: max s(v)(1 - s(v))|v| = 0.224 (tanh form) and
  // max Phi(-m)(m^2 + m) = 0.318 (erf form).
  static constexpr double kMostArgument = 0.33;
  // g (slope_near) and q (argument_near) of a unit.
  static double slope_near(Activation f, double z, double tau) {
    const double g = std::min(std::fabs(activation_slope(f, z)) + detail::kBend * tau, detail::kSlope);
    return z + tau < detail::kTurn ? std::min(g, std::fabs(activation_slope(f, z + tau))) : g;
  }
  static double argument_near(Activation f, double z, double tau) {
    const double m = std::max(0.0, tau - z);
    if (f == Activation::gelu_erf) return m * m + m;
    const double rest = detail::sigmoid(-detail::sigmoid_argument(f, z - tau));
    return rest > 0 ? rest * detail::sigmoid_argument(f, std::fabs(z) + tau) : 0;
  }

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 1}, {Axis::ffn, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::hidden});
    v.weight("w1", a.w1, {Axis::ffn, Axis::hidden});
    v.weight("b1", a.b1, {Axis::ffn}, {.present_if = "bias"});
    v.weight("w2", a.w2, {Axis::hidden, Axis::ffn});
    v.weight("b2", a.b2, {Axis::hidden}, {.present_if = "bias"});
    v.output("y", a.y, {Axis::tokens, Axis::hidden});
    v.choice("bias", a.has_bias, {"no", "yes"});
    v.choice("form", a.form, {"tanh", "erf"});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    const AxisList of_y = {Axis::tokens, Axis::hidden};
    v.array("y", g.y, of_y);
    v.array("sum_abs", g.sum_abs, of_y);
    v.array("sum_sq", g.sum_sq, of_y);
    v.array("product_abs", g.product_abs, of_y);
    v.array("product_sq", g.product_sq, of_y);
    v.array("product_bias", g.product_bias, of_y);
    v.array("stored_abs", g.stored_abs, of_y);
    v.array("stored_sq", g.stored_sq, of_y);
    v.array("function_abs", g.function_abs, of_y);
    v.array("argument_abs", g.argument_abs, of_y);
    v.array("weight_abs", g.weight_abs, {Axis::hidden});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // The errors of h, summed through w2.  u, u_o: unit roundoffs of the accumulator and of the dtype; e: function_error.  GELU
  // passes an error of z on with a slope of at most g, if it is below tau; above (relative errors beyond kNear) the bound is
  // infinite.  Independent errors of several units add up as a random walk (root of the sum of squares), coherent ones linearly.
  //   product   gemm_bound.hpp, written as kappa A or kappa (S + |p|): a chain lambda sqrt(n) u; truncating tensor cores 4u per
  //             step, of which 2u |p| per step makes every |z| smaller, so it adds up with the signs of w2: product_bias.
  //   roundings of b1's addition, u m; of a stored z, u_o m, and the same for a product stored before b1; of a stored h, u_o |h|:
  //             uniform, so independent 0.58 lambda times the root of the sum of squares; subnormals half the least one.
  //   GELU      activation.hpp, always linearly, since a function's errors may have one sign: u (2 + Q + e) |h| and
  //             (4 + X) u |h| q; in the erf form u (2 + 2e) and 2u; as 1 + tanh or 1 + erf u ((|z| + tau)(e + 2)/2 + 2|h|).
  //             Underflow: (|z| e + 2) times half the least subnormal, or |z| times the least normal number.
  //   second order  later steps amplify these errors by less than a relative 2^-7.
  // Then the second product, its bias, and the rounding to the dtype.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t hidden = a.x.shape[1], ffn = a.w1.shape[0];
    const DType chip = numerics.accumulate, storage = a.y.dtype;
    const double u = unit_roundoff(chip), u_o = unit_roundoff(storage), floor = rounding_floor(chip), y = g.y[i];
    const double weights = g.weight_abs[i % hidden], e = numerics.function_error, terms = static_cast<double>(hidden);
    const bool independent = errors != Errors::coherent;

    const double m = static_cast<double>(numerics.mma_terms), steps = numerics.mma_terms ? std::ceil(terms / m) : 0;
    const double n = numerics.mma_terms ? terms : static_cast<double>(numerics.chain.roundings(hidden) + 1);
    const double worst = (numerics.mma_terms ? steps * (m + 3) : n) * u;
    const double walk = (deviations(errors) * std::sqrt(n) + 4 * steps) * u;
    const int stored =
        numerics.stores_intermediate + (numerics.stores_every_step && a.b1.data);  // roundings of one z to the dtype
    if (worst + u + stored * u_o > kNear) return std::numeric_limits<double>::infinity();

    double t = worst * g.product_abs[i];
    if (independent) t = std::min(t, walk * std::sqrt(g.product_sq[i]) + 2 * steps * u * g.product_bias[i]);
    t += detail::kSlope * (terms + 2) * 2 * floor * weights;
    const auto rounded = [&](double unit, double sum, double squares) {
      return unit * (independent ? std::min(sum, 0.58 * deviations(errors) * std::sqrt(squares)) : sum);
    };
    const double subnormal = rounding_floor(storage) * detail::kSlope * weights;
    if (a.b1.data) t += rounded(u, g.stored_abs[i], g.stored_sq[i]);
    t += stored * (rounded(u_o, g.stored_abs[i], g.stored_sq[i]) + subnormal);
    if (numerics.cancelling_gelu) t += u * (g.argument_abs[i] * (e + 2) / 2 + 2 * g.sum_abs[i]);
    else if (a.form == Activation::gelu_erf) t += u * ((2 + 2 * e) * g.sum_abs[i] + 2 * g.function_abs[i]);
    else t += u * ((2 + numerics.quotient_error + e) * g.sum_abs[i] + (4 + numerics.exponent_error) * g.function_abs[i]);
    t += (g.argument_abs[i] * (numerics.flushes_subnormals ? 1 / u : e) + 2 * weights) * floor;
    if (numerics.stores_intermediate || numerics.narrow_probabilities) t += rounded(u_o, g.sum_abs[i], g.sum_sq[i]) + subnormal;
    t *= 1 + kNear;

    t += product_error(numerics, errors, ffn, a.b2.data ? y - a.b2.at(i % hidden) : y, g.sum_abs[i], g.sum_sq[i]);
    if (numerics.stores_every_step && a.b2.data) t += rounding_error(storage, y - a.b2.at(i % hidden), t);
    if (a.b2.data) t += rounding_error(chip, y, t);
    return t + rounding_error(storage, y, t);
  }

  // Reads x, the weights and biases, writes y; 2 operations per term of a product, 10 per GELU.  Unfused, z and h are also
  // written and read.
  static Cost cost(const Args& a) {
    const double biases = a.has_bias ? static_cast<double>(a.b1.bytes() + a.b2.bytes()) : 0;
    const double read = static_cast<double>(a.x.bytes() + a.w1.bytes() + a.w2.bytes()) + biases;
    const double units = static_cast<double>(a.x.shape[0]) * static_cast<double>(a.w1.shape[0]);
    return {.flops = units * (4.0 * static_cast<double>(a.x.shape[1]) + 10),
            .bytes_read = read,
            .bytes_written = static_cast<double>(a.y.bytes()),
            .unfused_bytes = read + static_cast<double>(a.y.bytes()) + 4 * units * size_of(a.y.dtype)};
  }
};

}  // namespace assay
