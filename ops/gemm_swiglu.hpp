// SPDX-License-Identifier: Apache-2.0
// SwiGLU:  y[t,f] = silu(gate[t,f]) * up[t,f],  gate = x w_gate^T,  up = x w_up^T,  silu(z) = z / (1 + exp(-z))
//
// Shazeer 2020, arXiv 2002.05202, without bias.  A NaN or inf in x affects its own token, in a weight its own feature;
// silu(-inf) = NaN (-inf / inf).  The unfused pipeline stores gate and up.
#pragma once

#include "ops/core/activation.hpp"
#include "ops/core/contract.hpp"

namespace assay {

struct gemm_swiglu {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor w_gate;  // [ffn, hidden]
    Tensor w_up;    // [ffn, hidden]
    Tensor y;       // [tokens, ffn], written
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 1}, {Axis::ffn, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::hidden});
    v.weight("w_gate", a.w_gate, {Axis::ffn, Axis::hidden});
    v.weight("w_up", a.w_up, {Axis::ffn, Axis::hidden});
    v.output("y", a.y, {Axis::tokens, Axis::ffn});
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
