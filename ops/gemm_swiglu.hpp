// SPDX-License-Identifier: Apache-2.0
// SwiGLU:  y[t,f] = silu(gate[t,f]) * up[t,f],  gate = x w_gate^T,  up = x w_up^T,  silu(z) = z / (1 + exp(-z))
//
// Shazeer 2020, arXiv 2002.05202, without bias.  A NaN or inf in x affects its own token, in a weight its own feature;
// silu(-inf) = NaN (-inf / inf).  The unfused pipeline stores gate and up.
#pragma once

#include "ops/core/activation.hpp"
#include "ops/core/gemm_bound.hpp"

namespace assay {

struct gemm_swiglu {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor w_gate;  // [ffn, hidden]
    Tensor w_up;    // [ffn, hidden]
    Tensor y;       // [tokens, ffn], written
  };
  struct Golden {
    Array y;         // [tokens, ffn]
    Array gate;      // [tokens, ffn]
    Array up;        // [tokens, ffn]
    Array gate_abs;  // [tokens, ffn], sum |x w_gate|
    Array gate_sq;   // [tokens, ffn], sum (x w_gate)^2
    Array up_abs;    // [tokens, ffn], sum |x w_up|
    Array up_sq;     // [tokens, ffn], sum (x w_up)^2
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 1}, {Axis::ffn, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::hidden});
    v.weight("w_gate", a.w_gate, {Axis::ffn, Axis::hidden});
    v.weight("w_up", a.w_up, {Axis::ffn, Axis::hidden});
    v.output("y", a.y, {Axis::tokens, Axis::ffn});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::tokens, Axis::ffn});
    v.array("gate", g.gate, {Axis::tokens, Axis::ffn});
    v.array("up", g.up, {Axis::tokens, Axis::ffn});
    v.array("gate_abs", g.gate_abs, {Axis::tokens, Axis::ffn});
    v.array("gate_sq", g.gate_sq, {Axis::tokens, Axis::ffn});
    v.array("up_abs", g.up_abs, {Axis::tokens, Axis::ffn});
    v.array("up_sq", g.up_sq, {Axis::tokens, Axis::ffn});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // T_g and T_u: errors of gate and up, from the products (gemm_bound.hpp) and from rounding them if they are stored.  T_s: error
  // of s = silu(gate) (activation.hpp), with its rounding if it is stored.  (s + T_s)(up + T_u) - s up is at most
  // |up| T_s + |s| T_u + T_s T_u; then the product rounds, and the result is rounded to the dtype.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t hidden = a.x.shape[1], token = i / a.y.shape[1], f = i % a.y.shape[1];
    double gate = product_error(numerics, errors, hidden, g.gate[i], g.gate_abs[i], g.gate_sq[i],
                                narrowed_magnitude(numerics, a.x, token, a.w_gate, f));
    double up = product_error(numerics, errors, hidden, g.up[i], g.up_abs[i], g.up_sq[i],
                              narrowed_magnitude(numerics, a.x, token, a.w_up, f));
    if (numerics.stores_intermediate) {
      gate += rounding_error(a.y.dtype, g.gate[i], gate);
      up += rounding_error(a.y.dtype, g.up[i], up);
    }
    const double s = activation(Activation::silu, g.gate[i]);
    double ds = activation_error(numerics, Activation::silu, g.gate[i], gate);
    if (numerics.stores_every_step) ds += rounding_error(a.y.dtype, s, ds);
    double t = std::fabs(g.up[i]) * ds + std::fabs(s) * up + ds * up;
    t += rounding_error(numerics.accumulate, g.y[i], t);
    return t + rounding_error(a.y.dtype, g.y[i], t);
  }

  // Reads x and both weights, writes y; two products, and 5 operations per element of y.  Unfused, x is read twice, and gate and
  // up are written and read.
  static Cost cost(const Args& a) {
    const double x = static_cast<double>(a.x.bytes()), weights = static_cast<double>(a.w_gate.bytes() + a.w_up.bytes());
    const double y = static_cast<double>(a.y.bytes());
    return {.flops = static_cast<double>(a.y.size()) * (4.0 * static_cast<double>(a.x.shape[1]) + 5),
            .bytes_read = x + weights,
            .bytes_written = y,
            .unfused_bytes = 2 * x + weights + 5 * y};
  }
};

}  // namespace assay
