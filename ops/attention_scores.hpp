// SPDX-License-Identifier: Apache-2.0
// Attention scores, materialised:  P = softmax(scale Q K^T + mask)
//
// Query head h reads key head h / (heads / kv_heads).  `causal` is aligned bottom-right: key k is visible to query q iff
// k <= q + seq_k - seq_q; `causal_top_left` iff k <= q.  A hidden key has P = 0 exactly and no effect, whatever it
// holds.  A query without a visible key, or whose visible scores are all -inf, has P = 0 at every key; a visible score that is
// NaN or +inf makes its P NaN at every visible key.  scale 0 means 1/sqrt(head_dim).
#pragma once

#include <limits>

#include "ops/core/clamped_sum.hpp"
#include "ops/core/gemm_bound.hpp"

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
  // For each query: s its scaled scores.  Each magnitude is the largest among its visible keys, inf and NaN left out.
  struct Golden {
    Array p;             // [batch, heads, seq_q, seq_k]
    Array log_p;         // shape of p: s - logsumexp(s), which is finite where p underflows; -inf where hidden
    Array log_rest;      // [batch, heads, seq_q]: log of the sum of all p but the largest
    Array score_abs;     // [batch, heads, seq_q]: |s|
    Array products_abs;  // [batch, heads, seq_q]: sum |q k|, not scaled
    Array products_sq;   // [batch, heads, seq_q]: sum (q k)^2, not scaled
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
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    const AxisList matrix = {Axis::batch, Axis::heads, Axis::seq_q, Axis::seq_k}, query = {Axis::batch, Axis::heads, Axis::seq_q};
    v.array("p", g.p, matrix);
    v.array("log_p", g.log_p, matrix);
    v.array("log_rest", g.log_rest, query);
    v.array("score_abs", g.score_abs, query);
    v.array("products_abs", g.products_abs, query);
    v.array("products_sq", g.products_sq, query);
  }

  static Legality legal(const Args& a) {
    if (a.scale != 0 && !(a.scale >= 0x1p-64 && a.scale <= 0x1p64)) return Legality::no("scale must be 0 or 2^-64 to 2^64");
    if (a.q.shape[2] % a.k.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    return Legality::yes();
  }

  // Every weight w = exp(s - m) is computed as w exp(delta), |delta| <= epsilon; u: unit roundoff of the accumulator, f: the
  // relative error of exp, m: the largest s of the query; |s| stands for its largest |s|.
  //
  //   score     scale * product_error (gemm_bound.hpp) of head_dim terms; if stored, one more rounding to the storage dtype.
  //   exponent  s and m are each scaled, 2u|s| with the scale's own rounding; their difference, and the change of base
  //             (constant and product): 3u|s - m|.  Together at most 10u max|s|.
  //   exp       f.  A subnormal result has an absolute error instead: f/u times half the least subnormal, or the least normal
  //             value if exp flushes; call it eta.
  //
  // So p = w / sum w lies between p / (p + (1-p) G) and p G / (p G + 1 - p), G = exp(2 epsilon): off by at most
  //   up    (1-p) p (G-1) / (1 + p (G-1))      down   p (1-p) (G-1) / (1 + (1-p) (G-1))
  // which is below 1 for any epsilon, and small where p is near 0 or 1.  log_p and log_rest (the log of 1-p of the largest p)
  // keep both accurate where exp underflows.
  // Then rho, the relative errors that all p of a query share: n additions of positive terms, n u at worst; each rescale of an
  // online sum, f + u, whose exponents add up to 2u max|s| together; 1 / sum, Q u (Numerics::quotient_error), and the product, u.
  // And eta, half the least subnormal for the product, and the output's rounding.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int /*output*/, std::int64_t i) {
    const std::int64_t keys = a.k.shape[1], row = i / keys, n = a.visible(row % a.q.shape[1]);
    if (i % keys >= n) return std::numeric_limits<double>::denorm_min();  // hidden: exactly 0
    const double u = unit_roundoff(numerics.accumulate), f = numerics.function_error * 0x1p-24, s = g.score_abs[row];
    const double scale = a.scale_used(), subnormal = rounding_floor(numerics.accumulate);

    double epsilon = scale * product_error(numerics, errors, a.q.shape[3], s / scale, g.products_abs[row], g.products_sq[row]);
    if (numerics.stores_intermediate) epsilon += rounding_error(a.q.dtype, s, epsilon);
    epsilon += 10 * u * s + f;

    const double p = g.p[i], log_p = g.log_p[i];
    const double log_rest = p > 0.5 ? g.log_rest[row] : std::log1p(-p);
    const auto grown = [&](double log_v) {  // v (G-1)
      if (2 * epsilon < 1) return std::exp(log_v) * std::expm1(2 * epsilon);
      return std::exp(std::min(log_v + 2 * epsilon, 700.0));
    };
    const double up = std::exp(log_rest) * grown(log_p) / (1 + grown(log_p)), down = p * grown(log_rest) / (1 + grown(log_rest));

    const double rescales = numerics.rescales.lanes ? static_cast<double>(numerics.rescales.roundings(n)) : 0;
    const double rho = kept(errors, static_cast<double>(numerics.chain.roundings(n))) * u + rescales * (f + u) + 2 * u * s +
                       (1 + numerics.quotient_error) * u;
    const double eta = numerics.flushes_subnormals ? subnormal / u : numerics.function_error * subnormal;
    double t = std::max(up, down);
    t += (p + t) * rho / (1 - std::min(rho, 0.5)) + eta + subnormal;
    return (t + rounding_error(a.p.dtype, p, t)) * (1 + 0x1p-10);
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
