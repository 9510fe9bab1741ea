// SPDX-License-Identifier: Apache-2.0
// Linear + GELU:  y[t,o] = gelu(z[t,o]),  z[t,o] = sum_h x[t,h] * weight[o,h]  (+ bias[o])
//
// form tanh: gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))); form erf: z/2 (1 + erf(z/sqrt 2)) (Hendrycks, Gimpel
// 2016, arXiv 1606.08415).  A NaN or inf in x affects its own token, in weight or bias its own feature; gelu(inf) = inf,
// gelu(-inf) = NaN (inf * 0).  The unfused pipeline stores z, its bias added.
#pragma once

#include "ops/core/activation.hpp"
#include "ops/core/gemm_bound.hpp"

namespace assay {

struct gelu_linear {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor weight;  // [out, hidden]
    Tensor bias;    // [out]; absent: none
    Tensor y;       // [tokens, out], written
    bool has_bias = false;
    Activation form = Activation::gelu_tanh;
  };
  struct Golden {
    Array y;        // [tokens, out]
    Array z;        // [tokens, out]
    Array sum_abs;  // [tokens, out], sum |x w|
    Array sum_sq;   // [tokens, out], sum (x w)^2
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 1}, {Axis::out, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::hidden});
    v.weight("weight", a.weight, {Axis::out, Axis::hidden});
    v.weight("bias", a.bias, {Axis::out}, {.present_if = "bias"});
    v.output("y", a.y, {Axis::tokens, Axis::out});
    v.choice("bias", a.has_bias, {"no", "yes"});
    v.choice("form", a.form, {"tanh", "erf"});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::tokens, Axis::out});
    v.array("z", g.z, {Axis::tokens, Axis::out});
    v.array("sum_abs", g.sum_abs, {Axis::tokens, Axis::out});
    v.array("sum_sq", g.sum_sq, {Axis::tokens, Axis::out});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // Errors in order: the product (gemm_bound.hpp); the addition of the bias; the rounding of a stored z, or of the product before
  // its bias (the larger counts), or of both; GELU of a z with that error (activation.hpp); the rounding to the dtype.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const double bias = a.bias.data ? a.bias.at(i % a.y.shape[1]) : 0, z = g.z[i];
    double t = product_error(numerics, errors, a.x.shape[1], z - bias, g.sum_abs[i], g.sum_sq[i],
                             narrowed_magnitude(numerics, a.x, i / a.y.shape[1], a.weight, i % a.y.shape[1]));
    if (numerics.stores_every_step && a.bias.data) t += rounding_error(a.y.dtype, z - bias, t);
    if (a.bias.data) t += rounding_error(numerics.accumulate, z, t);
    if (numerics.stores_intermediate) t += rounding_error(a.y.dtype, std::max(std::fabs(z), std::fabs(z - bias)), t);
    t = activation_error(numerics, a.form, z, t);
    return t + rounding_error(a.y.dtype, g.y[i], t);
  }

  // Reads x, weight and bias, writes y; 2 operations per term of the product, 10 per GELU.  Unfused, z is also written and read.
  static Cost cost(const Args& a) {
    const double read = static_cast<double>(a.x.bytes() + a.weight.bytes() + (a.bias.data ? a.bias.bytes() : 0));
    const double written = static_cast<double>(a.y.bytes());
    return {.flops = static_cast<double>(a.y.size()) * (2.0 * static_cast<double>(a.x.shape[1]) + 10),
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + 3 * written};
  }
};

}  // namespace assay
