// SPDX-License-Identifier: Apache-2.0
// Gradients of attention:  P = exp(S - L), S = scale Q K^T where visible, D = rowsum(dO * O), dS = P * (dO V^T - D),
//                          dQ = scale dS K,  dK = scale dS^T Q,  dV = P^T dO
//
// O and L are the stored outputs of attention_forward; P is recomputed from L (Dao et al. 2022, arXiv 2205.14135, appendix B).
// Masks, grouped heads and scale are those of attention_forward; dK and dV sum over the query heads that share a key/value head.
// A query with L = -inf (it sees no key) has dQ = 0 and adds nothing to dK and dV; nor does a hidden pair, whatever it holds.
// NaN and inf of visible pairs propagate by the formulas.
#pragma once

#include "ops/core/clamped_sum.hpp"
#include "ops/core/contract.hpp"

namespace assay {

struct attention_backward {
  enum class Mask { none, causal, causal_top_left };

  struct Args {
    Tensor q;    // [batch, seq_q, heads, head_dim]
    Tensor k;    // [batch, seq_k, kv_heads, head_dim]
    Tensor v;    // [batch, seq_k, kv_heads, head_dim]
    Tensor o;    // [batch, seq_q, heads, head_dim]
    Tensor lse;  // [batch, heads, seq_q], f32
    Tensor d_o;  // [batch, seq_q, heads, head_dim]: the gradient of O
    Tensor dq;   // [batch, seq_q, heads, head_dim], written
    Tensor dk;   // [batch, seq_k, kv_heads, head_dim], written
    Tensor dv;   // [batch, seq_k, kv_heads, head_dim], written
    Mask mask = Mask::none;
    double scale = 0;

    double scale_used() const { return scale == 0 ? 1 / std::sqrt(static_cast<double>(q.shape[3])) : scale; }
    std::int64_t above() const {  // query i sees keys 0 ... i + above()
      return mask == Mask::none ? k.shape[1] : mask == Mask::causal ? k.shape[1] - q.shape[1] : 0;
    }
    // Query i sees keys [0, visible(i)); key j is seen by queries [seen_from(j), seq_q).
    std::int64_t visible(std::int64_t i) const { return std::clamp<std::int64_t>(i + 1 + above(), 0, k.shape[1]); }
    std::int64_t seen_from(std::int64_t j) const { return std::clamp<std::int64_t>(j - above(), 0, q.shape[1]); }
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0}, {Axis::seq_q, 0},    {Axis::seq_k, 0},
                                     {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("q", a.q, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.input("k", a.k, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.input("v", a.v, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.input("o", a.o, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim}, {.holds = output_of("attention_forward", "o")});
    v.input("lse", a.lse, {Axis::batch, Axis::heads, Axis::seq_q},
            {.dtype = f32, .holds = output_of("attention_forward", "lse")});
    v.input("do", a.d_o, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.output("dq", a.dq, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.output("dk", a.dk, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.output("dv", a.dv, {Axis::batch, Axis::seq_k, Axis::kv_heads, Axis::head_dim});
    v.choice("mask", a.mask, {"none", "causal", "causal_top_left"});
    v.attribute("scale", a.scale, 0.0);
  }

  static Legality legal(const Args& a) {
    if (!(a.scale >= 0) || !std::isfinite(a.scale)) return Legality::no("scale must be finite and not negative");
    if (a.q.shape[2] % a.k.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    return Legality::yes();
  }

  // The row of dQ of an element; a key has the row of the query at its position, so that sampled queries also select keys.
  static std::int64_t row_of(const Args& a, int output, std::int64_t i) {
    const std::int64_t row = i / a.q.shape[3];
    if (output == 0 || a.q.shape[1] == 0) return output == 0 ? row : 0;
    const std::int64_t keys = a.k.shape[1], kv_heads = a.k.shape[2];
    const std::int64_t kv = row % kv_heads, key = row / kv_heads % keys, batch = row / kv_heads / keys;
    return (batch * a.q.shape[1] + key % a.q.shape[1]) * a.q.shape[2] + kv * (a.q.shape[2] / kv_heads);
  }

  // A visible pair costs 2 head_dim operations in each of S, dO V^T, dQ, dK and dV.  Unfused: S and dO V^T are written and read
  // once, P and dS written once and read twice.
  static Cost cost(const Args& a) {
    const double pairs = clamped_sum(a.q.shape[1], 1 + a.above(), a.k.shape[1]);
    const double rows = static_cast<double>(a.q.shape[0] * a.q.shape[2]), dim = static_cast<double>(a.q.shape[3]);
    const double all = rows * static_cast<double>(a.q.shape[1]) * static_cast<double>(a.k.shape[1]);
    const double read =
        static_cast<double>(a.q.bytes() + a.k.bytes() + a.v.bytes() + a.o.bytes() + a.lse.bytes() + a.d_o.bytes());
    const double written = static_cast<double>(a.dq.bytes() + a.dk.bytes() + a.dv.bytes());
    return {.flops = 10 * pairs * dim * rows,
            .bytes_read = read,
            .bytes_written = written,
            .unfused_bytes = read + written + 10 * all * size_of(a.q.dtype)};
  }
};

}  // namespace assay
