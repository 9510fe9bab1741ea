// SPDX-License-Identifier: Apache-2.0
// A gated recurrence, as in layers with a state instead of attention:  h[b,t,c] = gate[b,t,c] h[b,t-1,c] + x[b,t,c]
//
// h before the first step is `first`.  y is h after each step, `last` the state after all of them, kept in f32 for the next call.
// NaN and inf go on to all later steps of their channel.  No steps give an empty y, and `last` is `first`.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct gated_scan {
  struct Args {
    Tensor gate;   // [batch, steps, channels]
    Tensor x;      // [batch, steps, channels]
    Tensor first;  // [batch, channels], f32
    Tensor y;      // [batch, steps, channels], written
    Tensor last;   // [batch, channels], f32, written
  };

  static constexpr Axis steps{"steps", "steps of the recurrence", "step", "steps"};
  static constexpr Axis channels{"channels", "channels, each with its own state", "channel", "channels"};
  static constexpr AxisUse axes[] = {{Axis::batch, 0}, {steps, 0}, {channels, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("gate", a.gate, {Axis::batch, steps, channels});
    v.input("x", a.x, {Axis::batch, steps, channels});
    v.input("first", a.first, {Axis::batch, channels}, {.dtype = f32});
    v.output("y", a.y, {Axis::batch, steps, channels});
    v.output("last", a.last, {Axis::batch, channels}, {.dtype = f32});
  }
};

}  // namespace assay
