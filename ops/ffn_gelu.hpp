// SPDX-License-Identifier: Apache-2.0
// Feed-forward block:  y[t,o] = sum_f h[t,f] w2[o,f]  (+ b2[o])
//                      h[t,f] = gelu(z[t,f]),  z[t,f] = sum_c x[t,c] w1[f,c]  (+ b1[f])
//
// Vaswani et al. 2017, arXiv 1706.03762, eq. 2, with GELU instead of ReLU; the forms of gelu are those of gelu_linear.  A NaN or
// inf in x affects its own token, in w1 or b1 every output, in w2 or b2 its own feature.  The unfused pipeline stores z and h;
// one kernel per linear, with gelu fused into the first, stores h.
#pragma once

#include "ops/core/activation.hpp"
#include "ops/core/contract.hpp"

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
