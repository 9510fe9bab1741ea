// SPDX-License-Identifier: Apache-2.0
// Fills of ops that multiply queries q [..., heads, head_dim] by keys k or k_pool [..., kv_heads, head_dim].
#pragma once

#include <cmath>

#include "validate/cases/case.hpp"
#include "validate/values/draws.hpp"

namespace assay::attention_fills {

using namespace draws;

// Whether the default scale, 1 / sqrt(head_dim), is a power of two, so that scores of exact probes are exact.
inline bool power_of_four(const Dims& d, DType) { return is_power_of_four(d[Axis::head_dim]); }

// Whether scores are products of queries and keys, by the default scale or a larger power of two, of all keys that the mask
// shows.
inline bool plain_scores(const Case& c) {
  int exponent = 0;
  const double scale = attribute(c, "scale"), usual = 1 / std::sqrt(static_cast<double>(c.dims[Axis::head_dim]));
  const bool is_sharp = scale == 0 || (scale >= usual && std::frexp(scale, &exponent) == 0.5);
  return is_sharp && attribute(c, "softcap") == 0 && attribute(c, "window") == 0 && attribute(c, "rope") == 0;
}

inline bool is_query(const FillSite& s) { return s.tensor == "q"; }
inline bool is_key(const FillSite& s) { return s.tensor == "k" || s.tensor == "k_pool"; }

// Through one channel, every score of every other row of q is near -2^17, below the lowest value of f16 (in f16 itself near
// -48000, which a kernel can store).  Note: a stored score of such a row has no bits left to tell keys apart, so the scores of
// the other rows are moderate.
inline double lowest_scores(const FillSite& s, std::int64_t i) {
  if (!is_query(s) && !is_key(s)) return normal(s, i);
  if (i % s.shape.back() != 0) return 0.5 * normal(s, i);
  if (is_query(s)) return i / s.shape.back() % 2 ? 0 : -256;
  return (s.dtype == f16 ? 187.5 : 512) * std::sqrt(static_cast<double>(s.shape.back()));
}

// Half of the values of q (of k) are below the least normal one of the dtype, half up to 16 times it; those of k (of q) are so
// large that scores are of order one.
inline double subnormal(const FillSite& s, std::int64_t i, bool here, bool there) {
  const int least = info(s.dtype).format.min_exponent;
  if (here) return sign(s, i) * (draw(s, Purpose::kind, i, 2) ? 1 : 16) * random::power_of_two(least) * uniform(s, i);
  return there ? normal(s, i) * random::power_of_two(-least - 2) : normal(s, i);
}
inline double subnormal_queries(const FillSite& s, std::int64_t i) { return subnormal(s, i, is_query(s), is_key(s)); }
inline double subnormal_keys(const FillSite& s, std::int64_t i) { return subnormal(s, i, is_key(s), is_query(s)); }

// Six of seven keys are faint: with the default scale their scores are about 20 below the others'.  Their values are normal with
// a deviation of 4096.
inline double faint_keys(const FillSite& s, std::int64_t i) {
  const std::int64_t dim = s.shape.back(), heads = s.shape[s.shape.size() - 2];
  const bool faint = i / (dim * heads) % 7 != 0;
  if (s.tensor == "v" || s.tensor == "v_pool") return normal(s, i) * (faint ? 4096 : 1);
  if ((!is_query(s) && !is_key(s)) || i % dim != 0) return 0.3 * normal(s, i);
  if (is_query(s)) return 4;
  return faint ? -5 * std::sqrt(static_cast<double>(dim)) : 0;
}

// With the default scale every third key's score is 4096 below the others'.  So its weight is 0, even in f64, for a query that
// sees another key too.  Its value is infinite or NaN in one channel: there the result of such a query is NaN, as 0 times
// infinity is.
inline double dead_keys(const FillSite& s, std::int64_t i) {
  const std::int64_t dim = s.shape.back(), heads = s.shape[s.shape.size() - 2], row = i / dim;
  const bool dead = row / heads % 3 == 1;
  if (s.tensor == "v" || s.tensor == "v_pool")
    return dead && i % dim == draw(s, Purpose::column, row, dim) ? special(row % 3) : normal(s, i);
  if ((!is_query(s) && !is_key(s)) || i % dim != 0) return normal(s, i);
  if (is_query(s)) return 4;
  return dead ? -1024 * std::sqrt(static_cast<double>(dim)) : 0;
}

inline constexpr Fill kDeadKeys{
    .name = "dead_keys", .shows = "a key of weight zero skipped although its value is infinite or NaN", .value = dead_keys};
inline constexpr Fill kLowestScores{.name = "lowest_scores",
                                    .shows = "a maximum that starts at a finite value, or is taken for that of a hidden row",
                                    .coherent = true,
                                    .value = lowest_scores};
inline constexpr Fill kFaintKeys{
    .name = "faint_keys", .shows = "a small weight dropped although its value is large", .value = faint_keys};
inline constexpr Fill kSubnormalQueries{
    .name = "subnormal_queries", .shows = "subnormals of Q flushed to zero", .value = subnormal_queries};
inline constexpr Fill kSubnormalKeys{
    .name = "subnormal_keys", .shows = "subnormals of K flushed to zero", .value = subnormal_keys};

}  // namespace assay::attention_fills
