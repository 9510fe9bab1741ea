// SPDX-License-Identifier: Apache-2.0
// Judge hooks of attention_forward: exact probes, fills, relations.
#include "ops/attention_forward.hpp"

#include "validate/ops/attention_fills.hpp"
#include "validate/ops/attention_relations.hpp"
#include "validate/values/draws.hpp"
#include "validate/values/packed_fills.hpp"

namespace assay {

namespace {

using namespace draws;

// One element of q, k or v.
std::int64_t channel(const FillSite& s, std::int64_t i) { return i % s.dims[Axis::head_dim]; }
std::int64_t position(const FillSite& s, std::int64_t i) { return i / (s.shape[3] * s.shape[2]) % s.shape[1]; }

// A direction shared by all queries: a key along it has a high score for every query.
double direction(const FillSite& s, std::int64_t i) { return random::sign(shared_key(s, Purpose::column), at(channel(s, i))); }
// q = N(0,1) + direction and k = amount * direction: the score is about amount * sqrt(head_dim).
double hot(const FillSite& s, std::int64_t i, double amount) {
  if (s.tensor == "q") return normal(s, i) + direction(s, i);
  return s.tensor == "k" && amount != 0 ? normal(s, i) / 4 + amount * direction(s, i) : normal(s, i);
}

// Every query picks one key that it sees under any mask (key 0 if it sees none under one of them): q is 1024 times the key's code
// of random signs, so another key's weight is below e^-128 and vanishes next to 1.  O is that key's V, small integers.  If
// head_dim is a power of 4, the scale is a power of 2 and L is exact too.
double probe_one_key(const FillSite& s, std::int64_t i) {
  const std::int64_t dim = s.dims[Axis::head_dim], kv_heads = s.dims[Axis::kv_heads];
  if (s.tensor == "v") return static_cast<double>((i / dim * 7 + i % dim * 3) % 61 - 30);
  std::int64_t row = i / dim;
  if (s.tensor == "q") {
    const std::int64_t heads = s.dims[Axis::heads], head = row % heads;
    const auto [query, queries, first_key, keys] = packed_fills::place(s, row / heads);
    const std::int64_t last = std::min({query, query + keys - queries, keys - 1});
    const std::int64_t key = last > 0 ? random::index(shared_key(s, Purpose::row), at(row), last + 1) : 0;
    row = (first_key + key) * kv_heads + head / (heads / kv_heads);
  }
  const double code = random::sign(random::key(s.seed, 1, Purpose::sign), at(row * dim + i % dim));
  return s.tensor == "q" ? 1024 * code : code;
}

// Q = 0: every visible key has the same weight, and V is one-hot: channel c sums the keys k with k % head_dim = c, so a nonzero
// value where 0 is expected identifies a hidden key that was read.
double probe_equal_weights(const FillSite& s, std::int64_t i) {
  if (s.tensor == "q") return 0;
  return s.tensor == "k" ? normal(s, i) : position(s, i) % s.shape[3] == channel(s, i) ? 1 : 0;
}
double values_one(const FillSite& s, std::int64_t i) { return s.tensor == "v" ? 1 : normal(s, i); }
double negative_scores(const FillSite& s, std::int64_t i) {
  return s.tensor == "v" ? normal(s, i) : std::fabs(normal(s, i)) * (s.tensor == "k" ? -1 : 1);
}
double hot_first_key(const FillSite& s, std::int64_t i) { return hot(s, i, position(s, i) == 0 ? 1 : 0); }
double hot_last_key(const FillSite& s, std::int64_t i) { return hot(s, i, position(s, i) == s.dims[Axis::seq_k] - 1 ? 1 : 0); }
double hot_keys(const FillSite& s, std::int64_t i) { return hot(s, i, position(s, i) % 37 == 5 ? 1 : 0); }
double rising_scores(const FillSite& s, std::int64_t i) {
  const auto keys = static_cast<double>(s.dims[Axis::seq_k]);
  return hot(s, i, s.tensor == "k" ? (1 + static_cast<double>(position(s, i))) / keys : 0);
}
double falling_scores(const FillSite& s, std::int64_t i) {
  const auto keys = static_cast<double>(s.dims[Axis::seq_k]);
  return hot(s, i, s.tensor == "k" ? (keys - static_cast<double>(position(s, i))) / keys : 0);
}
double sharp_scores(const FillSite& s, std::int64_t i) { return normal(s, i) * (s.tensor == "q" ? 8 : 1); }
double large_values(const FillSite& s, std::int64_t i) {
  if (s.tensor != "v") return normal(s, i);
  return sign(s, i) * (s.dtype == f16 ? 59000 + 6000 * uniform(s, i) : 0x1p39 * (1 + 0.99 * uniform(s, i)));
}
double wide_values(const FillSite& s, std::int64_t i) {
  if (s.tensor != "v") return normal(s, i);
  const std::uint64_t key = random::key(s.seed, 2, Purpose::exponent);
  const int e = static_cast<int>(random::index(key, at(i), 24)) - 12;
  return sign(s, i) * random::power_of_two(e) * (1 + 0.999 * uniform(s, i));
}
double outlier_values(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / s.shape[3];
  const bool here = random::index(random::key(s.seed, 2, Purpose::column), at(row), s.shape[3]) == channel(s, i);
  return normal(s, i) * (s.tensor == "v" && here ? 1000 : 1);
}
// For one key in eleven one channel of V is NaN or inf; Q and K are N(0, 1).
double special_values(const FillSite& s, std::int64_t i) {
  const auto row = static_cast<std::uint64_t>(i / s.shape[3]);
  if (s.tensor != "v" || !random::one_in(random::key(s.seed, 2, Purpose::row), row, 11) ||
      random::index(random::key(s.seed, 2, Purpose::column), row, s.shape[3]) != channel(s, i))
    return normal(s, i);
  return special(random::index(random::key(s.seed, 2, Purpose::kind), row, 3));
}

void unpack(Case& c) { c.attributes.erase("packed"); }

}  // namespace

static Hooks hooks() {
  return {
      .fills =
          {{.name = "probe_one_key",
            .shows = "a wrong key, query, head or channel: O is the V of one key; exact",
            .value = probe_one_key,
            .exact = attention_fills::power_of_four,
            .exact_with = attention_fills::plain_scores,
            .applies = [](const Dims& d, DType) { return d[Axis::head_dim] >= 32; }},
           {.name = "probe_equal_weights",
            .shows = "a hidden key that is read, or a visible one that is not: the zeros of O identify it",
            .coherent = true,
            .value = probe_equal_weights},
           {.name = "values_one", .shows = "weights that do not sum to one", .value = values_one},
           {.name = "negative_scores",
            .shows = "a padding key with score zero that is included",
            .coherent = true,
            .value = negative_scores},
           {.name = "hot_first_key", .shows = "a maximum that later tiles lose", .value = hot_first_key},
           {.name = "hot_last_key",
            .shows = "sums that are not rescaled when the last tile raises the maximum",
            .value = hot_last_key},
           {.name = "hot_keys", .shows = "a skipped tile: some keys have far more weight than others", .value = hot_keys},
           {.name = "rising_scores",
            .shows = "a missing rescale: every tile raises the maximum",
            .coherent = true,
            .value = rising_scores},
           {.name = "falling_scores", .shows = "a maximum over the last tile only", .coherent = true, .value = falling_scores},
           {.name = "sharp_scores", .shows = "scores or exponents with too few bits", .value = sharp_scores},
           {.name = "large_values", .shows = "an output accumulator that overflows the storage dtype", .value = large_values},
           {.name = "wide_values", .shows = "an accumulator with too few bits", .value = wide_values},
           {.name = "outlier_values", .shows = "a small term lost next to a large one", .value = outlier_values},
           attention_fills::kLowestScores,
           attention_fills::kFaintKeys,
           attention_fills::kDeadKeys,
           attention_fills::kSubnormalQueries,
           attention_fills::kSubnormalKeys,
           {.name = "special_values",
            .shows = "NaN or inf in V that is lost, or leaks from a hidden key",
            .value = special_values}},
      .relations = {attention_relations::kQueryDoubled,
                    {.name = "packed_is_batch",
                     .shows = "a packed sequence whose result depends on its position",
                     .change = unpack,
                     .applies = [](const Case& c) { return !attention_relations::batch(c) && c.fill == "lengths_equal"; }}}};
}

static const LinkedHooks<attention_forward> linked(hooks);

}  // namespace assay
