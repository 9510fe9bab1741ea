// SPDX-License-Identifier: Apache-2.0
// Linear + GELU:  y[t,o] = gelu(z[t,o]),  z[t,o] = sum_h x[t,h] * weight[o,h]  (+ bias[o])
//
// form tanh: gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))); form erf: z/2 (1 + erf(z/sqrt 2)) (Hendrycks, Gimpel
// 2016, arXiv 1606.08415).  A NaN or inf in x affects its own token, in weight or bias its own feature; gelu(inf) = inf,
// gelu(-inf) = NaN (inf * 0).  The unfused pipeline stores z, its bias added.
#pragma once

#include "ops/core/activation.hpp"
#include "ops/core/contract.hpp"

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
