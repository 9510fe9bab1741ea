// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding inside attention: q and k are rotated (ops/rope.hpp) before the scores.  Key j of a sequence has
// position offset + j; a query has the position of the last key that it would see under a causal mask.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/core/contract.hpp"

namespace assay {

struct AttentionRope {
  enum class Pairs { none, half, interleaved };
  Pairs pairs = Pairs::none;
  double rotary_dim = 0, base = 10000, offset = 0;  // rotary_dim 0: head_dim rounded down to even; base 0: 10,000

  // Number of rotated channels; the rest of the head is left as it is.
  std::int64_t rotary(std::int64_t head_dim) const {
    if (pairs == Pairs::none) return 0;
    return rotary_dim == 0 ? head_dim / 2 * 2 : static_cast<std::int64_t>(rotary_dim);
  }
  double base_used() const { return base == 0 ? 10000 : base; }
  // The two channels of pair i of `turning` rotated channels; its angle is position * base_used()^(-2i/turning).
  std::int64_t first(std::int64_t i) const { return pairs == Pairs::interleaved ? 2 * i : i; }
  std::int64_t second(std::int64_t i, std::int64_t turning) const {
    return pairs == Pairs::interleaved ? 2 * i + 1 : i + turning / 2;
  }

  template <class Visitor>
  void bind(Visitor&& v) {
    v.choice("rope", pairs, {"none", "half", "interleaved"});
    v.attribute("rotary_dim", rotary_dim, 0);
    v.attribute("rope_base", base, 10000);
    v.attribute("rope_offset", offset, 0);
  }

  static constexpr double kMostPosition = 0x1p24, kMostBase = 0x1p60;  // as in ops/rope.hpp
  // `tokens`: number of queries and keys together.
  Legality legal(std::int64_t head_dim, std::int64_t tokens) const {
    if (!(rotary_dim >= 0 && rotary_dim <= static_cast<double>(head_dim)) || std::fmod(rotary_dim, 2) != 0)
      return Legality::no("rotary_dim must be even and no more than head_dim");
    if (base != 0 && !(base >= 1 && base <= kMostBase)) return Legality::no("rope_base must be 0 or between 1 and 2^60");
    if (std::floor(offset) != offset) return Legality::no("rope_offset must be a whole number");
    if (pairs != Pairs::none && !(std::fabs(offset) + static_cast<double>(tokens) <= kMostPosition))
      return Legality::no("rope_offset is too large: a position exceeds 2^24");
    return Legality::yes();
  }
};

}  // namespace assay
