// SPDX-License-Identifier: Apache-2.0
// Scaled blocks, as values in 8 bits get their range back:  y[t,c] = x[t,c] * scale[t, c / 128]
//
// NaN and inf affect their own elements, one in scale its block.  No tokens or no channels give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct scale_blocks {
  struct Args {
    Tensor x;      // [tokens, channels]
    Tensor scale;  // [tokens, channels/128], the last block may be shorter
    Tensor y;      // [tokens, channels], written
  };

  static constexpr std::int64_t kBlock = 128;
  static constexpr Axis channels{"channels", "channels, in blocks that share a scale", "channel", "channels"};
  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {channels, 0}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, channels});
    v.input("scale", a.scale, {Axis::tokens, blocks(channels, kBlock)});
    v.output("y", a.y, {Axis::tokens, channels});
  }
};

}  // namespace assay
