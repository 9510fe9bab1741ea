// SPDX-License-Identifier: Apache-2.0
// The golden of an attention op: O, L, and the magnitudes that attention_bound.hpp needs.
#pragma once

#include "ops/core/attention_bound.hpp"
#include "ops/core/contract.hpp"

namespace assay {

// For each query: s its scaled scores, p = exp(s - L); scores that are infinite or NaN are left out of the magnitudes.
struct AttentionGolden {
  Array o;             // [batch, seq_q, heads, head_dim]
  Array lse;           // [batch, heads, seq_q]
  Array pv_abs;        // shape of o: sum p|v|
  Array pv_sq;         // shape of o: sum (pv)^2
  Array spread;        // shape of o: attention_spread, which is at least sum p|v - o|
  Array v_abs;         // shape of o: sum |v|; or shape of V: prefix sums of |v| over the keys
  Array score_max;     // shape of lse: the largest s
  Array score_abs;     // shape of lse: the largest |s|
  Array products_abs;  // shape of lse: the largest sum |q k|, not scaled
  Array products_sq;   // shape of lse: the largest sum (q k)^2, not scaled
  Array p_sq;          // shape of lse: sum p^2

  // The magnitudes of the query at element `at` of lse; add_channel sets those of element i of o.
  AttentionMagnitudes magnitudes(std::int64_t at) const {
    AttentionMagnitudes m;
    m.lse = lse[at];
    m.score_max = score_max[at];
    m.score_abs = score_abs[at];
    m.p_sq = p_sq[at];
    m.products_abs = products_abs[at];
    m.products_sq = products_sq[at];
    return m;
  }
  void add_channel(AttentionMagnitudes& m, std::int64_t i) const {
    m.o = o[i];
    m.pv_abs = pv_abs[i];
    m.pv_sq = pv_sq[i];
    m.spread = spread[i];
  }

  template <class Visitor>
  void bind(Visitor&& v, AxisList of_v_abs) {
    const AxisList output = {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim},
                   query = {Axis::batch, Axis::heads, Axis::seq_q};
    v.array("o", o, output);
    v.array("lse", lse, query);
    v.array("pv_abs", pv_abs, output);
    v.array("pv_sq", pv_sq, output);
    v.array("spread", spread, output);
    v.array("v_abs", v_abs, of_v_abs);
    v.array("score_max", score_max, query);
    v.array("score_abs", score_abs, query);
    v.array("products_abs", products_abs, query);
    v.array("products_sq", products_sq, query);
    v.array("p_sq", p_sq, query);
  }
};

}  // namespace assay
