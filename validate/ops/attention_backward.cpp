// SPDX-License-Identifier: Apache-2.0
// Judge hooks of attention_backward: exact probes, fills, relations.
#include "ops/attention_backward.hpp"

#include <limits>

#include "validate/ops/attention_fills.hpp"
#include "validate/ops/attention_relations.hpp"
#include "validate/values/draws.hpp"

namespace assay {

namespace {

using namespace draws;

constexpr double kInf = std::numeric_limits<double>::infinity();

// One element of q, k, v or do.
std::int64_t channel(const FillSite& s, std::int64_t i) { return i % s.shape[3]; }
std::int64_t position(const FillSite& s, std::int64_t i) { return i / (s.shape[3] * s.shape[2]) % s.shape[1]; }

// q = N(0,1) + direction, and hot keys are near `direction`, so their score is about sqrt(head_dim).
double hot(const FillSite& s, std::int64_t i, bool is_hot) {
  const double direction = random::sign(shared_key(s, Purpose::column), at(channel(s, i)));
  if (s.tensor == "q") return normal(s, i) + direction;
  return s.tensor == "k" && is_hot ? normal(s, i) / 4 + direction : normal(s, i);
}

// Every query picks one key that it sees under any mask (key 0 if it sees none under one of them): q is 1024 times the key's
// code of random signs, so any other score is more than 700 lower and its weight underflows to 0 even in f64.  O is that key's V,
// so dS = 0, and dV of a key is the sum of the one-hot dO of the queries that picked it: small integers.
double probe_one_key(const FillSite& s, std::int64_t i) {
  const std::int64_t dim = s.dims[Axis::head_dim], kv_heads = s.dims[Axis::kv_heads], keys = s.dims[Axis::seq_k];
  if (s.tensor == "v") return static_cast<double>((i / dim * 7 + i % dim * 3) % 61 - 30);
  std::int64_t row = i / dim;
  if (s.tensor == "do") return row % dim == i % dim ? 1 : 0;
  if (s.tensor == "q") {
    const std::int64_t heads = s.dims[Axis::heads], queries = s.dims[Axis::seq_q], head = row % heads,
                       query = row / heads % queries;
    const std::int64_t last = std::min({query, query + keys - queries, keys - 1});
    const std::int64_t picked = last > 0 ? random::index(shared_key(s, Purpose::row), at(row), last + 1) : 0;
    row = (row / heads / queries * keys + picked) * kv_heads + head / (heads / kv_heads);
  }
  const double code = random::sign(random::key(s.seed, 1, Purpose::sign), at(row * dim + i % dim));
  return s.tensor == "q" ? 1024 * code : code;
}

double hot_first_key(const FillSite& s, std::int64_t i) { return hot(s, i, position(s, i) == 0); }
double hot_last_key(const FillSite& s, std::int64_t i) { return hot(s, i, position(s, i) == s.dims[Axis::seq_k] - 1); }
double hot_keys(const FillSite& s, std::int64_t i) { return hot(s, i, position(s, i) % 37 == 5); }
double sharp_scores(const FillSite& s, std::int64_t i) { return normal(s, i) * (s.tensor == "q" ? 8 : 1); }
double one_hot_gradient(const FillSite& s, std::int64_t i) {
  if (s.tensor != "do") return normal(s, i);
  const std::int64_t row = i / s.shape[3];
  return channel(s, i) == draw(s, Purpose::column, row, s.shape[3]) ? 1 : 0;
}
double large_values(const FillSite& s, std::int64_t i) {
  if (s.tensor == "do") return normal(s, i) * 0x1p-10;
  if (s.tensor != "v") return normal(s, i);
  return sign(s, i) * (s.dtype == f16 ? 59000 + 6000 * uniform(s, i) : 0x1p39 * (1 + 0.99 * uniform(s, i)));
}
double large_gradients(const FillSite& s, std::int64_t i) { return normal(s, i) * (s.tensor == "do" ? 4096 : 1); }
double wide_values(const FillSite& s, std::int64_t i) {
  if (s.tensor != "v" && s.tensor != "do") return normal(s, i);
  const int e = static_cast<int>(draw(s, Purpose::exponent, i, 12)) - 6;
  return sign(s, i) * random::power_of_two(e) * (1 + 0.999 * uniform(s, i));
}
double outlier_values(const FillSite& s, std::int64_t i) {
  const std::int64_t row = i / s.shape[3];
  const bool here = draw(s, Purpose::column, row, s.shape[3]) == channel(s, i);
  return normal(s, i) * ((s.tensor == "v" || s.tensor == "do") && here ? 100 : 1);
}
double negative_scores(const FillSite& s, std::int64_t i) {
  return s.tensor == "v" || s.tensor == "do" ? normal(s, i) : std::fabs(normal(s, i)) * (s.tensor == "k" ? -1 : 1);
}
// In one row of eleven of the tensor one channel is NaN or inf; the others are N(0, 1).
double special_in(const FillSite& s, std::int64_t i, std::string_view tensor) {
  const auto row = static_cast<std::uint64_t>(i / s.shape[3]);
  if (s.tensor != tensor || !random::one_in(key(s, Purpose::row), row, 11) ||
      random::index(key(s, Purpose::column), row, s.shape[3]) != channel(s, i))
    return normal(s, i);
  return special(random::index(key(s, Purpose::kind), row, 3));
}
// Every third query has scores of minus infinity alone, through channel 0, so that its L is minus infinity and its weights are 0.
double blind_queries(const FillSite& s, std::int64_t i) {
  if (channel(s, i) != 0 || (s.tensor != "q" && s.tensor != "k")) return normal(s, i);
  if (s.tensor == "k") return 0.5 + uniform(s, i);
  return position(s, i) % 3 == 1 ? -kInf : normal(s, i);
}
double special_keys(const FillSite& s, std::int64_t i) { return special_in(s, i, "k"); }
double special_values(const FillSite& s, std::int64_t i) { return special_in(s, i, "v"); }
double special_gradients(const FillSite& s, std::int64_t i) { return special_in(s, i, "do"); }

}  // namespace

static Hooks hooks() {
  using namespace attention_relations;
  return {
      .fills = {{.name = "probe_one_key",
                 .shows = "a wrong key, query, head or channel: dV is a sum of one-hot rows; exact",
                 .value = probe_one_key,
                 .exact = attention_fills::power_of_four,
                 .exact_with = attention_fills::plain_scores,
                 .applies = [](const Dims& d, DType) { return d[Axis::head_dim] >= 64; }},
                {.name = "hot_first_key", .shows = "a skipped first tile", .value = hot_first_key},
                {.name = "hot_last_key", .shows = "a skipped last tile", .value = hot_last_key},
                {.name = "hot_keys", .shows = "a skipped tile: some keys have far more weight than others", .value = hot_keys},
                {.name = "sharp_scores", .shows = "scores or exponents with too few bits, saturated P", .value = sharp_scores},
                {.name = "one_hot_gradient", .shows = "swapped or dropped channels of dO", .value = one_hot_gradient},
                {.name = "large_values", .shows = "D or dO V^T rounded to the storage dtype", .value = large_values},
                {.name = "large_gradients", .shows = "dS that overflows the storage dtype", .value = large_gradients},
                {.name = "wide_values", .shows = "an accumulator with too few bits", .value = wide_values},
                {.name = "outlier_values", .shows = "a small term lost next to a large one", .value = outlier_values},
                {.name = "negative_scores",
                 .shows = "a padding key with score zero that is included",
                 .coherent = true,
                 .value = negative_scores},
                {.name = "blind_queries",
                 .shows = "L of minus infinity taken as it is: a query whose scores are all minus infinity has no weights",
                 .value = blind_queries},
                {.name = "special_keys", .shows = "NaN or inf of a hidden K that leaks", .value = special_keys},
                attention_fills::kDeadKeys,
                {.name = "special_values",
                 .shows = "NaN or inf in V that is lost, or leaks from a hidden key",
                 .value = special_values},
                {.name = "special_gradients",
                 .shows = "NaN or inf in dO that is lost, or leaks from a hidden pair",
                 .value = special_gradients}},
      .relations = {{.name = "query_doubled",
                     .shows = "a scale applied twice, or to only one of dQ and dK",
                     .scaled = {{"q", 2}, {"dq", 0.5}},
                     .change = half_scale,
                     .applies = normal_values},
                    {.name = "values_one",
                     .shows = "rows of dS that do not sum to zero: if V is all ones, O is too, for any Q and K",
                     .within_bounds = {"dq", "dk"},
                     .scaled = {{"v", 0, 1}, {"o", 0, 1}, {"dq", 0}, {"dk", 0}}}},
  };
}

static const LinkedHooks<attention_backward> linked(hooks);

}  // namespace assay
