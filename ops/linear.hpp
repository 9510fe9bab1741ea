// SPDX-License-Identifier: Apache-2.0
// Linear:  y[t,o] = sum_h x[t,h] * weight[o,h]  (+ bias[o])
//
// The weight is stored [out, hidden], as in torch.nn.Linear.  A NaN or inf in x affects its own token, in weight or bias its own
// output feature.  No tokens or no output features give an empty y; hidden = 0 is illegal.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct linear {
  struct Args {
    Tensor x;       // [tokens, hidden]
    Tensor weight;  // [out, hidden]
    Tensor bias;    // [out]; absent: none
    Tensor y;       // [tokens, out], written
    bool has_bias = false;
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
