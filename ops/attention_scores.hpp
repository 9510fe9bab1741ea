// SPDX-License-Identifier: Apache-2.0
// Attention scores, materialised:  P = softmax(scale Q K^T + mask)
//
// Query head h reads key head h / (heads / kv_heads).  `causal` is aligned bottom-right: key k is visible to query q iff
// k <= q + seq_k - seq_q; `causal_top_left` iff k <= q.  A hidden key has P = 0 exactly and no effect, whatever it
// holds.  A query without a visible key, or whose visible scores are all -inf, has P = 0 at every key; a visible score that is
// NaN or +inf makes its P NaN at every visible key.  scale 0 means 1/sqrt(head_dim).
#pragma once

#include "ops/core/clamped_sum.hpp"
#include "ops/core/contract.hpp"

namespace assay {

struct attention_scores {
  enum class Mask { none, causal, causal_top_left };

  struct Args {
    Tensor q;  // [batch, seq_q, heads, head_dim]
    Tensor k;  // [batch, seq_k, kv_heads, head_dim]
    Tensor p;  // [batch, heads, seq_q, seq_k], written
    Mask mask = Mask::none;
    double scale = 0;

    double scale_used() const { return scale == 0 ? 1 / std::sqrt(static_cast<double>(q.shape[3])) : scale; }
    // A query sees the keys [0, visible(query)).
    std::int64_t visible(std::int64_t query) const { return std::clamp<std::int64_t>(last_key(query) + 1, 0, k.shape[1]); }
    // The last key that it sees, as if keys had no end and no beginning.
    std::int64_t last_key(std::int64_t query) const {
      return query + (mask == Mask::none ? k.shape[1] : mask == Mask::causal ? k.shape[1] - q.shape[1] : 0);
    }
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0}, {Axis::seq_q, 0},    {Axis::seq_k, 0},
                                     {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("q", a.q, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.input("k", a.k, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.output("p", a.p, {Axis::batch, Axis::heads, Axis::seq_q, Axis::seq_k});
    v.choice("mask", a.mask, {"none", "causal", "causal_top_left"});
    v.attribute("scale", a.scale, 0.0);
  }

  static Legality legal(const Args& a) {
    if (a.scale != 0 && !(a.scale >= 0x1p-64 && a.scale <= 0x1p64)) return Legality::no("scale must be 0 or 2^-64 to 2^64");
    if (a.q.shape[2] % a.k.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    return Legality::yes();
  }

  // Reads Q and K, writes P; 2 head_dim operations per visible pair of query and key.  Unfused, the scores are written and read
  // once.
  static Cost cost(const Args& a) {
    const double pairs = clamped_sum(a.q.shape[1], a.last_key(0) + 1, a.k.shape[1]);
    const double read = static_cast<double>(a.q.bytes() + a.k.bytes()), written = static_cast<double>(a.p.bytes());
    return {.flops = 2 * pairs * static_cast<double>(a.q.shape[0] * a.q.shape[2] * a.q.shape[3]),
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + 3 * written};
  }
};

}  // namespace assay
