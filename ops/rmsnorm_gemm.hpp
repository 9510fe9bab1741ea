// SPDX-License-Identifier: Apache-2.0
// RMSNorm + linear:  y[t,o] = sum_h x[t,h] r_t gamma[h] * weight[o,h],  r_t = 1 / sqrt(mean_h(x[t,h]^2) + epsilon)
//
// RMSNorm: Zhang, Sennrich 2019, arXiv 1910.07467.  A NaN or inf in x makes its own token NaN (inf: r = 0, and inf r is NaN), in
// gamma it affects every output, in weight its own feature.  A row of zeros gives zeros, with epsilon = 0 NaN.  The unfused
// pipeline stores x r gamma.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct rmsnorm_gemm {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor gamma;   // [hidden]
    Tensor weight;  // [out, hidden]
    Tensor y;       // [tokens, out], written
    double epsilon = 1e-5;
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

  static Legality legal(const Args& a) {
    if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon)) return Legality::no("epsilon must be finite and not negative");
    return Legality::yes();
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
