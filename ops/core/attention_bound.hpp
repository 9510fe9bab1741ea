// SPDX-License-Identifier: Apache-2.0
// Error bound of attention in finite precision: O and L = logsumexp.
//
// Step 1: the relative error of each weight w_k = exp(s_k - reference); u: unit roundoff of the accumulator, n: visible keys.
//
//   score   s = scale (q.k): scale * product_error (gemm_bound.hpp) of head_dim terms with the query's largest magnitudes.
//           If scores are stored: one more rounding to the storage dtype.  softcap: |tanh'| <= 1 and x tanh'(x) <= tanh x, so
//           scale, its product and the quotient (2) add at most 4u|s| to s = c tanh(x / c); tanh adds function_error u|s|;
//           c and the last product 2u|s|.
//   rope    a rotated channel of q or k (ops/rope.hpp) is off by at most m rho (1 + rho), with m = |a| + |b| of its pair plus the
//           least normal of f32 (for underflow), rho = (angle_error |t| + reduced_angle_error + function_error + 3) u, where 3
//           counts the two products and their sum.  The score, with R = rho + rho' of q and k, is off by sum m m' (R + 2R^2).
//           Rounded to the storage dtype then (u_s, floor_s), q and k together: 2u_s sum|q k| at worst, as a random walk
//           0.58 sqrt(2) lambda u_s sqrt(sum (q k)^2); subnormals floor_s of q times k and of k times q,
//           floor_s (sum (m + m') + dim floor_s).  The rounded values carry the earlier errors: times (1 + 3u_s).
//   exponent  in one FMA, s c - (m c) with c = scale log2(e): c rounded twice 2u|s - m|, m c rounded u|m|, the FMA u|s - m|;
//           in steps, s' = scale s: 2u|s|, the same for m, s' - m': u|s - m|.  Either way below 3u|s| + 4u|m| <= 7u max|s|.
//   exp     function_error u.
//   rescale whenever the running maximum grows (a record), both sums are multiplied by exp(m_old - m_new): function_error u for
//           exp, u for the product.  The errors of these exponents, u|m_old - m_new| each, add up to at most 2u max|s|; plus
//           u|m_old| per record where the weights used the rounded m c and the rescale uses m_old itself.
//           Records: at most rescales.roundings(n); among n scores in random order their number has mean and variance
//           below 1 + ln n (Renyi 1962), so mean + lambda deviations is used.
// The sum of these is epsilon: |ln(w'/w)| <= epsilon, and since sum p (v - o) = 0,
//   O       sum p (w'/w - 1)(v - o) / sum p w'/w:                 e^epsilon (e^epsilon - 1) sum p|v - o|;
//           never more than max|v| + |o|, since O is a mean of the v under any weights.
//           The code uses `spread` >= sum p|v - o| and sum|v| >= max|v|.  If epsilon is in the tens (stored scores), weights that
//           f64 underflows to 0 (exp below e^-700) may become the largest: adding 2^-500 sum|v| to spread covers them.
//           From here on sums over p use the perturbed weights, which are at most e^(2 epsilon) p and sum to 1.
//   L       epsilon.
// Step 2: the errors of the sums and of stored values.
//   P       rounded to the storage dtype (u_p) before P V, l summed from either form: sum p eta v or sum p eta (v - o).
//           |eta| <= u_p, uniform, deviation u_p/sqrt(3) = 0.58 u_p: independent 0.58 lambda u_p (sqrt(sum (pv)^2)
//           + |o| sqrt(sum p^2)), coherent u_p (sum p|v| + |o|).  Subnormal weights lose half the least subnormal each, relative
//           to a largest weight of 1: floor_p sum|v| / l~, l~ = exp(L - max); for a stored P, which is normalised,
//           floor_p sum|v|.  An exp that flushes subnormals loses up to 2^-126 of each weight.
//   P V     product_error of n terms.
//   l       chain.roundings(n) additions of positive terms: u each at worst, lambda sqrt(chain) u as a random walk.
//   1/l     (2 + Q) u|o|, Q = Numerics::quotient_error, 1 or more: a reciprocal within 1 ulp (2u) and the product with it (u)
//           need 3u.
//   L       log: function_error u |ln l~|; the scaling of m, its addition and ln 2: together 4u(|m| + |ln l~|).
//   out     one rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/core/gemm_bound.hpp"

namespace assay {

// Magnitudes of one query: s its scaled and capped scores, p = exp(s - L); scores that are infinite or NaN are left out.
struct AttentionMagnitudes {
  std::int64_t keys = 0;  // visible
  std::int64_t dim = 0;
  double scale = 0;
  double softcap = 0;  // 0: none
  DType storage = DType::f32;
  double lse = 0;
  double score_max = 0;            // the largest s
  double score_abs = 0;            // the largest |s|
  double products_abs = 0;         // the largest sum |q k|, not scaled
  double products_sq = 0;          // the largest sum (q k)^2, not scaled
  double p_sq = 0;                 // sum p^2
  double rope_products = 0;        // rope (m, t: head comment): the largest sum m m'; 0: no rope
  double rope_products_angle = 0;  // the largest sum m m' (|t| + |t'|)
  double rope_magnitudes = 0;      // the largest sum m + m'
  double most_angle = 0;           // an upper bound of |t| + |t'|
  // For one output channel, summed over the visible keys:
  double o = 0;
  double pv_abs = 0;  // sum p|v|
  double pv_sq = 0;   // sum (pv)^2
  double spread = 0;  // attention_spread, which is at least sum p|v - o|
  double v_abs = 0;   // sum |v|

  bool empty() const { return keys == 0 || std::isinf(score_max); }  // O = 0, L = -inf
};

// sqrt(sum p v^2 - o^2) of a channel over n keys, which is at least sum p|v - o| (Jensen).  The rounding errors of the two f64
// sums are added to stay an upper bound: n roundings of sum p v^2, 2n of o^2 <= sum p v^2.
inline double attention_spread(double p_v_sq, double o, std::int64_t keys) {
  const double lost = 3 * static_cast<double>(keys) * 0x1p-53 * p_v_sq;
  return std::sqrt(std::max(p_v_sq - o * o, 0.0) + lost);
}

// Error that the rotation of q and k (rope) adds to a score, before scaling.
inline double attention_turn_error(const Numerics& numerics, const AttentionMagnitudes& m) {
  const double u = unit_roundoff(numerics.accumulate), far = numerics.angle_error * u;
  const double near = 2 * (numerics.reduced_angle_error + numerics.function_error + 3) * u, most = near + far * m.most_angle;
  return (near * m.rope_products + far * m.rope_products_angle) * (1 + 2 * most);
}

// Error that rounding the rotated q and k to the storage dtype adds to a score, before scaling.
inline double attention_rounded_turns(Errors errors, const AttentionMagnitudes& m) {
  const double u = unit_roundoff(m.storage), low = rounding_floor(m.storage), worst = (2 + u) * u * m.products_abs;
  const double walk = 0.58 * std::sqrt(2.0) * deviations(errors) * u * std::sqrt(m.products_sq);
  return (errors == Errors::coherent ? worst : std::min(worst, walk)) +
         low * (m.rope_magnitudes + static_cast<double>(m.dim) * low);
}

// epsilon, the bound of |ln(w'/w)| of a weight.
inline double attention_epsilon(const Numerics& numerics, Errors errors, const AttentionMagnitudes& m) {
  const double u = unit_roundoff(numerics.accumulate), s = m.score_abs;
  const double product = m.softcap == 0 ? s / m.scale : m.products_abs;
  double score = m.scale * product_error(numerics, errors, m.dim, product, m.products_abs, m.products_sq);
  if (m.rope_products != 0) score += m.scale * attention_turn_error(numerics, m);
  if (m.rope_products != 0 && numerics.rounds_rotated)
    score = (score + m.scale * attention_rounded_turns(errors, m)) * (1 + 3 * unit_roundoff(m.storage));
  if (m.softcap != 0) score += (6 + numerics.function_error) * u * s;
  if (numerics.stores_intermediate) score += rounding_error(m.storage, s, score);
  const double most = numerics.rescales.lanes ? static_cast<double>(numerics.rescales.roundings(m.keys)) : 0;
  const double expected = 1 + std::log(static_cast<double>(m.keys));
  const double records = errors == Errors::coherent ? most : std::min(most, expected + deviations(errors) * std::sqrt(expected));
  return score + (9 + records) * u * s + numerics.function_error * u + records * (numerics.function_error + 2) * u;
}

// Relative error of l, the sum of the weights.
inline double attention_sum_error(const Numerics& numerics, Errors errors, const AttentionMagnitudes& m) {
  const double chain = static_cast<double>(numerics.chain.roundings(m.keys));
  return walked(errors, chain) * unit_roundoff(numerics.accumulate);
}

// Bound of L = logsumexp, which is stored as f32.
inline double attention_lse_bound(const Numerics& numerics, Errors errors, const AttentionMagnitudes& m) {
  if (m.empty()) return rounding_floor(m.storage);
  const double u = unit_roundoff(numerics.accumulate), log_sum = std::fabs(m.lse - m.score_max);
  const double t = attention_epsilon(numerics, errors, m) + attention_sum_error(numerics, errors, m) +
                   u * (numerics.function_error * log_sum + 4 * (std::fabs(m.score_max) + log_sum));
  return t + rounding_error(f32, m.lse, t);
}

inline double attention_output_bound(const Numerics& numerics, Errors errors, const AttentionMagnitudes& m, DType out) {
  if (m.empty()) return rounding_floor(out);
  const double u = unit_roundoff(numerics.accumulate), log_sum = std::fabs(m.lse - m.score_max);
  const double grown = std::exp(attention_epsilon(numerics, errors, m)), twice = grown * grown;
  const double spread = m.spread + 0x1p-500 * m.v_abs, farthest = m.v_abs + std::fabs(m.o);
  double t = farthest == 0 ? 0 : std::min(grown * (grown - 1) * spread, farthest);
  // A sum over p, bounded under the perturbed weights.
  const auto with_weights = [&](double sum, double most) { return sum == 0 ? 0 : std::min(twice * sum, most); };
  const double o = std::fabs(m.o) + t, pv_abs = with_weights(m.pv_abs, m.v_abs);
  const double pv_norm = with_weights(std::sqrt(m.pv_sq), m.v_abs), p_norm = std::min(twice * std::sqrt(m.p_sq), 1.0);
  t += product_error(numerics, errors, m.keys, o, pv_abs, pv_norm * pv_norm) +
       (attention_sum_error(numerics, errors, m) + (2 + numerics.quotient_error) * u) * o;
  const bool narrow = numerics.narrow_probabilities || numerics.stores_intermediate;
  if (narrow) {
    const double worst = pv_abs + o, walk = 0.58 * deviations(errors) * (pv_norm + o * p_norm);
    t += unit_roundoff(m.storage) * (errors == Errors::coherent ? worst : std::min(worst, walk));
  }
  const double lost = std::max(narrow ? rounding_floor(m.storage) : 0, numerics.flushes_subnormals ? 0x1p-126 : 0);
  if (lost > 0) t += lost * m.v_abs / (numerics.stores_intermediate ? 1 : std::exp(log_sum));
  if (numerics.flushes_storage) t += 2 * 0x1p-126;  // once for V (its weights sum to 1), once for O
  return t + rounding_error(out, m.o, t);
}

}  // namespace assay
