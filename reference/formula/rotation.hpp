// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (ops/rope.hpp) in formulas: the first channels of a head, paired and rotated.
#pragma once

#include "reference/formula/formula.hpp"

namespace assay::formula {

// Cosine and sine of each channel's angle.
struct Turn {
  Array cosine, sine;
};

class ChannelPairs {
 public:
  // Of the channels along an axis the first `turning` are rotated, which is even and not 0.  halves: pair i is channels i and
  // i + turning/2, else 2i and 2i + 1.
  ChannelPairs(Formula& f, Axis channels, double turning, bool halves)
      : channels_(channels),
        turning_(turning),
        turns_(f.index(channels) < turning),
        second_(halves ? quotient(f.index(channels), turning / 2) : f.index(channels) - 2 * quotient(f.index(channels), 2)),
        pair_(halves ? f.index(channels) - turning / 2 * second_ : quotient(f.index(channels), 2)),
        partner_(partner(f.index(channels), halves ? turning / 2 : 1)) {}

  // By position base^(-2 pair / turning), and by position frequencies[pair].
  Turn by_base(const Array& position, double base) const {
    const Array above = -2 * pair_;
    return {cos_turn(position, above, turning_, base), sin_turn(position, above, turning_, base)};
  }
  Turn by_frequencies(const Array& position, const Array& frequencies) const {
    const Array frequency = take(frequencies, channels_, pair_);
    return {cos_turn(position, frequency), sin_turn(position, frequency)};
  }

  // x with each pair rotated by its angle: (a, b) becomes (a cos - b sin, a sin + b cos).
  Array rotated(const Array& x, const Turn& by) const {
    const Array other = take(x, channels_, partner_);
    return where(turns_, x * by.cosine + where(second_, other, -other) * by.sine, x);
  }

 private:
  Array partner(const Array& channel, double apart) const {
    return where(turns_, where(second_, channel - apart, channel + apart), channel);
  }

  Axis channels_;
  double turning_;
  Array turns_;    // whether a channel is rotated
  Array second_;   // 1, or 0 in the first of a pair
  Array pair_;     // its number
  Array partner_;  // the other channel of its pair
};

}  // namespace assay::formula
