// SPDX-License-Identifier: Apache-2.0
// The gated product of SwiGLU:  y[r,c] = silu(gate[r,c]) * up[r,c],  silu(z) = z / (1 + exp(-z))
//
// Shazeer 2020, arXiv 2002.05202.  silu(inf) = inf, silu(-inf) = NaN (-inf / inf); NaN and inf affect their own element only.  No
// rows or no columns give an empty y.
#pragma once

#include "ops/core/activation.hpp"

namespace assay {

struct silu_mul {
  struct Args {
    Tensor gate;  // [rows, cols]
    Tensor up;    // [rows, cols]
    Tensor y;     // [rows, cols], written
  };

  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("gate", a.gate, {Axis::rows, Axis::cols});
    v.input("up", a.up, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }

  // Reads gate and up, writes y; 5 operations per element.  Unfused, silu(gate) is also written and read.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.y.bytes());
    return {.flops = 5.0 * static_cast<double>(a.y.size()),
            .bytes_read = 2 * matrix,
            .bytes_written = matrix,
            .unfused_bytes = 5 * matrix};
  }
};

}  // namespace assay
