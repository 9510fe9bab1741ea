// SPDX-License-Identifier: Apache-2.0
// LayerNorm + linear:  y[t,o] = sum_h n[t,h] weight[o,h]  (+ bias[o]),  n[t,h] = (x[t,h] - mean_t) r_t gamma[h] + beta[h]
//                      r_t = 1 / sqrt(var_t + epsilon), var the biased variance
//
// LayerNorm: Ba, Kiros, Hinton 2016, arXiv 1607.06450, eq. 4.  A NaN or inf in x affects its own token, in gamma or beta
// every output, in weight or bias its own feature.  A constant row gives beta W^T; with epsilon = 0 NaN.  The unfused pipeline
// stores n.
#pragma once

#include "ops/core/contract.hpp"

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

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
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
