// SPDX-License-Identifier: Apache-2.0
// Linear:  y[t,o] = sum_h x[t,h] * weight[o,h]  (+ bias[o])
//
// The weight is stored [out, hidden], as in torch.nn.Linear.  A NaN or inf in x affects its own token, in weight or bias its own
// output feature.  No tokens or no output features give an empty y; hidden = 0 is illegal.
#pragma once

#include "ops/core/gemm_bound.hpp"

namespace assay {

struct linear {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor weight;  // [out, hidden]
    Tensor bias;    // [out]; absent: none
    Tensor y;       // [tokens, out], written
    bool has_bias = false;
  };
  struct Golden {
    Array y;        // [tokens, out]
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
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::tokens, Axis::out});
    v.array("sum_abs", g.sum_abs, {Axis::tokens, Axis::out});
    v.array("sum_sq", g.sum_sq, {Axis::tokens, Axis::out});
  }

  static Legality legal(const Args&) { return Legality::yes(); }

  // Errors in order: the product (gemm_bound.hpp); its rounding if it is stored before the bias is added; the addition of the
  // bias; the rounding to the dtype.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const double bias = a.bias.data ? a.bias.at(i % a.y.shape[1]) : 0, product = g.y[i] - bias;
    double t = product_error(numerics, errors, a.x.shape[1], product, g.sum_abs[i], g.sum_sq[i],
                             narrowed_magnitude(numerics, a.x, i / a.y.shape[1], a.weight, i % a.y.shape[1]));
    if (a.bias.data) {
      if (numerics.stores_intermediate) t += rounding_error(a.y.dtype, product, t);
      t += rounding_error(numerics.accumulate, g.y[i], t);
    }
    return t + rounding_error(a.y.dtype, g.y[i], t);
  }

  // Reads x, weight and bias, writes y; 2 operations per term.  Unfused, with a bias, the product is also written and read.
  static Cost cost(const Args& a) {
    const double read = static_cast<double>(a.x.bytes() + a.weight.bytes() + (a.bias.data ? a.bias.bytes() : 0));
    const double written = static_cast<double>(a.y.bytes());
    return {.flops = 2.0 * static_cast<double>(a.y.size()) * static_cast<double>(a.x.shape[1]),
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + written * (a.bias.data ? 3 : 1)};
  }
};

}  // namespace assay
