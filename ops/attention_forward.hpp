// SPDX-License-Identifier: Apache-2.0
// Attention:  O = softmax(scale Q K^T + mask) V,  L = logsumexp of the scaled, masked scores (natural log)
//
// Query head h reads key/value head h / (heads / kv_heads).  `causal` is aligned bottom-right: key k is visible to query q
// iff k <= q + seq_k - seq_q; `causal_top_left` iff k <= q.  A query without a visible key, or whose visible scores are all
// -inf, gets O = 0 and L = -inf.  A score that is NaN or +inf makes the O and L of its query NaN; a hidden key spoils
// nothing, whatever its K and V hold.  scale 0 means 1/sqrt(head_dim).  A window of w leaves a query the last w of the keys up
// to its place, which is the last key that causal would leave it (without a mask, of the bottom-right kind); 0: no window.  A
// softcap of c makes c tanh(s / c) of every score s, before the mask; 0: none.
#pragma once

#include "ops/core/attention_bound.hpp"

namespace assay {

struct attention_forward {
  enum class Mask { none, causal, causal_top_left };

  struct Args {
    Tensor q;    // [batch, seq_q, heads, head_dim]
    Tensor k;    // [batch, seq_k, kv_heads, head_dim]
    Tensor v;    // [batch, seq_k, kv_heads, head_dim]
    Tensor o;    // [batch, seq_q, heads, head_dim], written
    Tensor lse;  // [batch, heads, seq_q], f32, written
    Mask mask = Mask::none;
    double scale = 0;
    double window = 0;
    double softcap = 0;

    double scale_used() const { return scale == 0 ? 1 / std::sqrt(static_cast<double>(q.shape[3])) : scale; }
    // Keys [first_visible(query), visible(query)) are the visible ones.
    std::int64_t visible(std::int64_t query) const {
      const std::int64_t keys = k.shape[1], above = mask == Mask::causal ? keys - q.shape[1] : 0;
      return mask == Mask::none ? keys : std::clamp<std::int64_t>(query + 1 + above, 0, keys);
    }
    std::int64_t first_visible(std::int64_t query) const {
      const std::int64_t place = query + (mask == Mask::causal_top_left ? 0 : k.shape[1] - q.shape[1]);
      return window == 0 ? 0 : std::clamp<std::int64_t>(place + 1 - static_cast<std::int64_t>(window), 0, visible(query));
    }
  };
  // Of a query: s its scaled scores, p = exp(s - L); scores that are infinite or NaN are left out of the magnitudes.
  struct Golden {
    Array o;             // [batch, seq_q, heads, head_dim]
    Array lse;           // [batch, heads, seq_q]
    Array pv_abs;        // as o: sum p|v|
    Array pv_sq;         // as o: sum (pv)^2
    Array spread;        // as o: sqrt(sum p v^2 - o^2), which is at least sum p|v - o|
    Array v_abs;         // [batch, seq_k, kv_heads, head_dim]: sum of |v| over this key and those before it
    Array score_max;     // as lse: the largest s
    Array score_abs;     // as lse: the largest |s|
    Array products_abs;  // as lse: the largest sum |q k|, not scaled
    Array products_sq;   // as lse: the largest sum (q k)^2, not scaled
    Array p_sq;          // as lse: sum p^2
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0}, {Axis::seq_q, 0},    {Axis::seq_k, 0},
                                     {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("q", a.q, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.input("k", a.k, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.input("v", a.v, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.output("o", a.o, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.output("lse", a.lse, {Axis::batch, Axis::heads, Axis::seq_q}, {.dtype = f32});
    v.choice("mask", a.mask, {"none", "causal", "causal_top_left"});
    v.attribute("scale", a.scale, 0.0);
    v.attribute("window", a.window, 0.0);
    v.attribute("softcap", a.softcap, 0.0);
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    const AxisList output = {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim},
                   query = {Axis::batch, Axis::heads, Axis::seq_q};
    v.array("o", g.o, output);
    v.array("lse", g.lse, query);
    v.array("pv_abs", g.pv_abs, output);
    v.array("pv_sq", g.pv_sq, output);
    v.array("spread", g.spread, output);
    v.array("v_abs", g.v_abs, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.array("score_max", g.score_max, query);
    v.array("score_abs", g.score_abs, query);
    v.array("products_abs", g.products_abs, query);
    v.array("products_sq", g.products_sq, query);
    v.array("p_sq", g.p_sq, query);
  }

  static Legality legal(const Args& a) {
    if (!(a.scale >= 0) || !std::isfinite(a.scale)) return Legality::no("scale must be finite and not negative");
    if (!(a.window >= 0 && a.window <= 0x1p40) || a.window != std::floor(a.window))
      return Legality::no("window must be a whole number up to 2^40, not negative");
    if (!(a.softcap >= 0) || !std::isfinite(a.softcap)) return Legality::no("softcap must be finite and not negative");
    if (a.q.shape[2] % a.k.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    return Legality::yes();
  }

  // The query (row of O) that an element of O or of L belongs to.
  static std::int64_t row_of(const Args& a, int output, std::int64_t i) {
    if (output == 0) return i / a.q.shape[3];
    const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], batch = i / (heads * queries);
    return (batch * queries + i % queries) * heads + i / queries % heads;
  }

  // attention_bound.hpp has the derivation.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int output, std::int64_t i) {
    const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], dim = a.q.shape[3], row = row_of(a, output, i);
    const std::int64_t head = row % heads, query = row / heads % queries, batch = row / heads / queries;
    const std::int64_t at = (batch * heads + head) * queries + query, end = a.visible(query), n = end - a.first_visible(query);
    AttentionMagnitudes m{.keys = n,
                          .dim = dim,
                          .scale = a.scale_used(),
                          .softcap = a.softcap,
                          .storage = a.q.dtype,
                          .lse = g.lse[at],
                          .score_max = g.score_max[at],
                          .score_abs = g.score_abs[at],
                          .products_abs = g.products_abs[at],
                          .products_sq = g.products_sq[at],
                          .p_sq = g.p_sq[at]};
    if (output == 1) return attention_lse_bound(numerics, errors, m);
    m.o = g.o[i], m.pv_abs = g.pv_abs[i], m.pv_sq = g.pv_sq[i], m.spread = g.spread[i];
    const std::int64_t kv_heads = a.k.shape[2], kv = head / (heads / kv_heads);
    if (n > 0) m.v_abs = g.v_abs[((batch * a.k.shape[1] + end - 1) * kv_heads + kv) * dim + i % dim];
    return attention_output_bound(numerics, errors, m, a.o.dtype);
  }

  // Q, K and V read, O and L written.  A visible pair of query and key costs 2 head_dim for its score and as many for its
  // share of O.  Unfused, the scores and the probabilities are written and read once each.
  static Cost cost(const Args& a) {
    double pairs = 0;
    for (std::int64_t query = 0; query < a.q.shape[1]; ++query)
      pairs += static_cast<double>(a.visible(query) - a.first_visible(query));
    const double rows = static_cast<double>(a.q.shape[0] * a.q.shape[2]), dim = static_cast<double>(a.q.shape[3]);
    const double all = rows * static_cast<double>(a.q.shape[1]) * static_cast<double>(a.k.shape[1]);
    const double read = static_cast<double>(a.q.bytes() + a.k.bytes() + a.v.bytes());
    const double written = static_cast<double>(a.o.bytes() + a.lse.bytes());
    return {.flops = 4 * pairs * dim * rows,
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + written + 4 * all * size_of(a.q.dtype)};
  }
};

}  // namespace assay
