// SPDX-License-Identifier: Apache-2.0
// Judge hooks of attention_scores: exact probes, fills, relations.
#include "ops/attention_scores.hpp"

#include <bit>

#include "validate/ops/attention_fills.hpp"
#include "validate/ops/attention_relations.hpp"
#include "validate/values/draws.hpp"

namespace assay {

namespace {

using namespace draws;

constexpr double kInf = std::numeric_limits<double>::infinity();

// One element of Q or K: [batch, position, head, channel].
struct Place {
  bool is_q;
  std::int64_t batch, position, head, channel;
  std::int64_t row;  // index over all axes but the last
};
Place place_of(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / s.shape[3], head = row % s.shape[2], position = row / s.shape[2] % s.shape[1];
  return {s.tensor == "q", row / s.shape[2] / s.shape[1], position, head, i % s.shape[3], row};
}
// 0 at the first key, 1 at the last.
double along(const FillSite& s, const Place& at) {
  return static_cast<double>(at.position) / static_cast<double>(std::max<std::int64_t>(1, s.shape[1] - 1));
}
double root_of_dim(const FillSite& s) { return std::sqrt(static_cast<double>(s.shape[3])); }

// Scores N(0, 1/16), plus `q_times_k` of the key's place in [-1, 1] through one channel.
double one_channel(const FillSite& s, std::int64_t i, double slope) {
  const Place at = place_of(s, i);
  if (at.channel != s.shape[3] / 2) return 0.5 * normal(s, i);
  return at.is_q ? 8 : slope * root_of_dim(s) / 8 * (2 * along(s, at) - 1);
}
double rising(const FillSite& s, std::int64_t i) { return one_channel(s, i, 12); }
double falling(const FillSite& s, std::int64_t i) { return one_channel(s, i, -12); }

// Every score is near -72: a padding key, whose score is 0, would take all the weight.  Note: not lower, since bf16 rounding of a
// stored score would make keys indistinguishable.
double all_far_below_zero(const FillSite& s, std::int64_t i) {
  const Place at = place_of(s, i);
  if (at.channel != 0) return 0.5 * normal(s, i);
  return at.is_q ? -8 : 9 * root_of_dim(s);
}

// One key in sixteen is four times as long.
double hot_keys(const FillSite& s, std::int64_t i) {
  const Place at = place_of(s, i);
  const bool hot = !at.is_q && random::one_in(key(s, Purpose::row), static_cast<std::uint64_t>(at.row), 16);
  return normal(s, i) * (hot ? 4 : 1);
}

// Keys of three kinds: scores tie, and round alike.
double tied_keys(const FillSite& s, std::int64_t i) {
  const Place at = place_of(s, i);
  return normal(s, at.is_q ? i : at.position % 3 * s.shape[3] + at.channel);
}

// Scores in the thousands, within f16's range even with scale 1: one key takes nearly all the weight, and the accumulator's last
// bits decide which.
double large_scores(const FillSite& s, std::int64_t i) {
  return normal(s, i) * (s.tensor == "q" ? std::min(2000.0, 10000 / root_of_dim(s)) : 1);
}

// One outlier in each query.
double query_outlier(const FillSite& s, std::int64_t i) {
  const Place at = place_of(s, i);
  const auto row = static_cast<std::uint64_t>(at.row);
  if (!at.is_q || at.channel != random::index(key(s, Purpose::column), row, s.shape[3])) return normal(s, i);
  return random::sign(key(s, Purpose::sign), row) * 1000;
}

// Products that cancel pairwise except for one part in 256, so any early rounding shows.
double cancelling(const FillSite& s, std::int64_t i) {
  const Place at = place_of(s, i);
  const std::int64_t half = s.shape[3] / 2;
  if (at.channel >= 2 * half) return normal(s, i) / 16;
  const double v = 3 * round_to(s.dtype == f32 ? bf16 : s.dtype, normal(s, at.row * s.shape[3] + at.channel % half));
  if (!at.is_q || at.channel < half) return v;
  return -v * (1 - 0x1p-7 * random::uniform(key(s, Purpose::kind), static_cast<std::uint64_t>(i)));
}

// Q = 0: P = 1 / visible, exact if that is a power of two, as it is without a mask.
double probe_uniform(const FillSite& s, std::int64_t i) { return s.tensor == "q" ? 0 : normal(s, i); }

// Key j has the binary digits of j (exclusive-or a number of its batch and head) as signs; query i matches one key that it sees
// under any mask.  That key's score is at least 1000 above all others, so P is its one-hot row: exactly, if the scale is a power
// of two.  Otherwise a score is rounded, and a kernel may subtract the maximum from the score before its rounding (a compiler
// contracts dot * scale - max to an FMA), so that exp(0) becomes exp(u |score|).
double probe_digits(const FillSite& s, std::int64_t i) {
  const Place at = place_of(s, i);
  const Dims& d = s.dims;
  const std::int64_t keys = d[Axis::seq_k], group = d[Axis::heads] / d[Axis::kv_heads];
  const int digits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(keys - 1)));
  if (at.channel >= digits) return 0;
  const std::int64_t kv = at.is_q ? at.head / group : at.head;
  std::int64_t number = at.position;
  if (at.is_q) {
    const std::int64_t bottom_right = at.position + std::min<std::int64_t>(0, keys - d[Axis::seq_q]);
    const std::int64_t last = std::min(bottom_right >= 0 ? bottom_right : at.position, keys - 1);
    number = random::index(key(s, Purpose::row), static_cast<std::uint64_t>(at.row), last + 1);
  }
  number ^= random::index(random::key(s.seed, 0, Purpose::tensor), static_cast<std::uint64_t>(at.batch * 64 + kv),
                          std::int64_t{1} << digits);
  return (number >> at.channel & 1 ? 1 : -1) * (at.is_q ? 64 : 128);
}

bool power_of_two_keys(const Dims& d, DType) { return std::has_single_bit(static_cast<std::uint64_t>(d[Axis::seq_k])); }
bool room_for_digits(const Dims& d, DType) {
  if (d[Axis::seq_k] == 0) return false;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(d[Axis::seq_k] - 1))) <= d[Axis::head_dim];
}
bool exact_digits(const Dims& d, DType t) { return room_for_digits(d, t) && attention_fills::power_of_four(d, t); }

}  // namespace

static Hooks hooks() {
  return {
      .fills = {{.name = "probe_uniform",
                 .shows = "a padding key that is included, a key that is not; exact without a mask",
                 .coherent = true,
                 .value = probe_uniform,
                 .exact = power_of_two_keys,
                 .applies = power_of_two_keys},
                {.name = "probe_digits",
                 .shows = "a wrong key, head or batch, or a hidden key that is read; exact",
                 .coherent = true,
                 .value = probe_digits,
                 .exact = exact_digits,
                 .exact_with = attention_fills::plain_scores,
                 .applies = room_for_digits},
                {.name = "rising", .shows = "an online sum not rescaled when the maximum rises", .value = rising},
                {.name = "falling", .shows = "a maximum replaced by a later tile's", .value = falling},
                {.name = "all_far_below_zero",
                 .shows = "a padding key that is included, a maximum that starts at zero",
                 .coherent = true,
                 .value = all_far_below_zero},
                {.name = "hot_keys", .shows = "dropped or moved keys, which uniform weights would hide", .value = hot_keys},
                {.name = "tied_keys", .shows = "tied maxima of which only one counts", .coherent = true, .value = tied_keys},
                {.name = "large_scores", .shows = "exp without subtracting the maximum, a missing scale", .value = large_scores},
                attention_fills::kLowestScores,
                attention_fills::kSubnormalQueries,
                attention_fills::kSubnormalKeys,
                {.name = "query_outlier", .shows = "a small product lost next to a large one", .value = query_outlier},
                {.name = "cancelling", .shows = "products or sums rounded to 16 bits before the end", .value = cancelling}},
      .relations = {attention_relations::kQueryDoubled}};
}

static const LinkedHooks<attention_scores> linked(hooks);

}  // namespace assay
