// SPDX-License-Identifier: Apache-2.0
// Attention:  O = softmax(scale Q K^T + mask) V,  L = logsumexp of the scaled, masked scores (natural log)
//
// Query head h reads key/value head h / (heads / kv_heads).  `causal` is aligned bottom-right: key k is visible to query q
// iff k <= q + seq_k - seq_q; `causal_top_left` iff k <= q.  A query without a visible key, or whose visible scores are all
// -inf, gets O = 0 and L = -inf.  A score that is NaN or +inf makes the O and L of its query NaN; a hidden key has no effect,
// whatever its K and V hold.  scale 0 means 1/sqrt(head_dim).  The place of a query is the last key that `causal` (with
// `causal_top_left`: that mask) lets it see; a window of w hides the keys more than w - 1 before that place; 0: no window.  Only
// a mask hides keys after that place: with mask none and a window, a query sees them all.  A softcap of c replaces every score s
// by c tanh(s / c) before the mask; 0: none.  Packed: sequences of several lengths follow each other in one list of tokens
// (sequences.hpp), seq_q and seq_k are their mean lengths, and masks apply to each sequence; token t of the list has its L at
// [t / seq_q, head, t % seq_q].  With rope, q and k are rotated first (attention_rope.hpp).
#pragma once

#include "ops/core/attention_rope.hpp"
#include "ops/core/clamped_sum.hpp"
#include "ops/core/contract.hpp"
#include "ops/core/sequences.hpp"

namespace assay {

struct attention_forward {
  enum class Mask { none, causal, causal_top_left };

  struct Args {
    Tensor q;                           // [batch, seq_q, heads, head_dim]
    Tensor k, v;                        // [batch, seq_k, kv_heads, head_dim]
    Tensor cu_seqlens_q, cu_seqlens_k;  // [batch + 1], i32, first token of each sequence; packed only
    Tensor o;                           // [batch, seq_q, heads, head_dim], written
    Tensor lse;                         // [batch, heads, seq_q], f32, written
    Mask mask = Mask::none;
    double scale = 0, window = 0, softcap = 0;
    bool packed = false;
    AttentionRope rope;

    double scale_used() const { return scale == 0 ? 1 / std::sqrt(static_cast<double>(q.shape[3])) : scale; }
    // Without cu_seqlens data (cost of a shape alone), all sequences are taken to have the same length.
    Sequence sequence(std::int64_t b) const {
      if (cu_seqlens_q.data) return packed_sequence(cu_seqlens_q, cu_seqlens_k, b);
      return {b * q.shape[1], q.shape[1], b * k.shape[1], k.shape[1]};
    }
    // A query's place, and its visible keys [first_visible, visible).
    std::int64_t place(const Sequence& s, std::int64_t query) const {
      return query + (mask == Mask::causal_top_left ? 0 : s.keys - s.queries);
    }
    std::int64_t visible(const Sequence& s, std::int64_t query) const {
      return mask == Mask::none ? s.keys : std::clamp<std::int64_t>(place(s, query) + 1, 0, s.keys);
    }
    std::int64_t first_visible(const Sequence& s, std::int64_t query) const {
      const std::int64_t first = place(s, query) + 1 - static_cast<std::int64_t>(window);
      return window == 0 ? 0 : std::clamp<std::int64_t>(first, 0, visible(s, query));
    }
    std::int64_t all_tokens() const { return q.shape[0] * (q.shape[1] + k.shape[1]); }
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0}, {Axis::seq_q, 0},    {Axis::seq_k, 0},
                                     {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("q", a.q, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim}, {.merged_if = "packed"});
    v.input("k", a.k, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim}, {.merged_if = "packed"});
    v.input("v", a.v, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim}, {.merged_if = "packed"});
    v.input("cu_seqlens_q", a.cu_seqlens_q, {Axis::batch + 1},
            {.dtype = i32, .present_if = "packed", .holds = starts_of(Axis::seq_q)});
    v.input("cu_seqlens_k", a.cu_seqlens_k, {Axis::batch + 1},
            {.dtype = i32, .present_if = "packed", .holds = starts_of(Axis::seq_k)});
    v.output("o", a.o, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim}, {.merged_if = "packed"});
    v.output("lse", a.lse, {Axis::batch, Axis::heads, Axis::seq_q}, {.dtype = f32});
    v.choice("mask", a.mask, {"none", "causal", "causal_top_left"});
    v.attribute("scale", a.scale, 0.0);
    v.attribute("window", a.window, 0.0);
    v.attribute("softcap", a.softcap, 0.0);
    v.choice("packed", a.packed, {"no", "yes"});
    a.rope.bind(v);
  }

  static Legality legal(const Args& a) {
    if (!(a.scale >= 0) || !std::isfinite(a.scale)) return Legality::no("scale must be finite and not negative");
    if (!(a.window >= 0 && a.window <= 0x1p40) || a.window != std::floor(a.window))
      return Legality::no("window must be a whole number up to 2^40, not negative");
    if (!(a.softcap >= 0) || !std::isfinite(a.softcap)) return Legality::no("softcap must be finite and not negative");
    if (a.q.shape[2] % a.k.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    if (const Legality rope = a.rope.legal(a.q.shape[3], a.all_tokens()); !rope || !a.packed) return rope;
    for (const Tensor* t : {&a.q, &a.k, &a.v, &a.o})
      if (!leading_axes_merge(*t)) return Legality::no("packed rows must have one stride over batch and seq");
    return Legality::yes();
  }

  // The query (row of O) that an element of O or of L belongs to.
  static std::int64_t row_of(const Args& a, int output, std::int64_t i) {
    if (output == 0) return i / a.q.shape[3];
    const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], batch = i / (heads * queries);
    return (batch * queries + i % queries) * heads + i / queries % heads;
  }

  // Reads Q, K, V and the starts, writes O and L.  A visible pair of query and key costs 2 head_dim operations for its score and
  // 2 head_dim for O.  Unfused, the scores and the probabilities are written and read once each.
  static Cost cost(const Args& a) {
    double pairs = 0, all = 0;
    const bool apart = a.cu_seqlens_q.data != nullptr;  // sequences of several lengths
    for (std::int64_t b = 0; b < (apart ? a.q.shape[0] : 1); ++b) {
      const Sequence s = a.sequence(b);
      const std::int64_t place = a.place(s, 0) + 1, window = static_cast<std::int64_t>(a.window);
      pairs += a.mask == Mask::none ? static_cast<double>(s.queries) * static_cast<double>(s.keys)
                                    : clamped_sum(s.queries, place, s.keys);
      if (window > 0) pairs -= clamped_sum(s.queries, place - window, s.keys);
      all += static_cast<double>(s.queries) * static_cast<double>(s.keys);
    }
    const double rows = static_cast<double>((apart ? 1 : a.q.shape[0]) * a.q.shape[2]);
    const double dim = static_cast<double>(a.q.shape[3]);
    const double starts = a.packed ? 8 * static_cast<double>(a.q.shape[0] + 1) : 0;
    const double read = static_cast<double>(a.q.bytes() + a.k.bytes() + a.v.bytes()) + starts;
    const double written = static_cast<double>(a.o.bytes() + a.lse.bytes());
    return {.flops = 4 * pairs * dim * rows,
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + written + 4 * rows * all * size_of(a.q.dtype)};
  }
};

}  // namespace assay
