// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_forward.hpp"

#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/rotation.hpp"

namespace assay::formula {

// The channels of x, rotated in pairs by the angles of its tokens' places.
static Array rotated(Formula& f, const AttentionRope& rope, const Array& x, const Array& place) {
  const Axis head_dim("head_dim");
  const auto turning = static_cast<double>(rope.rotary(f.extent(head_dim)));
  if (turning == 0) return x;
  const ChannelPairs pairs(f, head_dim, turning, rope.pairs == AttentionRope::Pairs::half);
  const Turn turn = pairs.by_base(place + rope.offset, rope.base_used());
  return step("rotated", pairs.rotated(x, turn));
}

static void write(const assay::attention_forward::Args& a, Formula& f) {
  const Attention places(f, a.packed, static_cast<Attention::Mask>(a.mask), a.window);
  const Array q = rotated(f, a.rope, f.in("q"), places.place_of_query());
  const Array k = rotated(f, a.rope, of_shared_heads(f, f.in("k")), places.place_of_key());
  const Array products = sum(Axis("head_dim"))(q * k) * a.scale_used();
  const Array scores = places.masked(step("scores", a.softcap == 0 ? products : a.softcap * tanh(products / a.softcap)));
  put_out_attention(f, places.keys(), scores, of_shared_heads(f, f.in("v")), a.softcap != 0);
}

static const LinkedFormula<assay::attention_forward> formula_of_attention_forward("attention_forward", write);

}  // namespace assay::formula
