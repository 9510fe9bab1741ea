// SPDX-License-Identifier: Apache-2.0
// Judge hooks of paged_attention: exact probes, fills, relations.
#include "ops/paged_attention.hpp"

#include "validate/ops/attention_fills.hpp"
#include "validate/ops/attention_relations.hpp"
#include "validate/ops/paged_relations.hpp"
#include "validate/values/paged_fills.hpp"

namespace assay {

namespace {

using namespace paged_fills;

bool is_q(const FillSite& s) { return s.tensor == "q"; }
bool is_k(const FillSite& s) { return s.tensor == "k_pool"; }
bool is_v(const FillSite& s) { return s.tensor == "v_pool"; }
// For an element of a pool: its slot, counted over all pages, and its head.
std::int64_t slot(const FillSite& s, std::int64_t i) { return i / s.shape[3] / s.shape[2]; }

// Every query picks one key that it sees (any key if it sees none): q is 1024 times the key's code of random signs, so another
// key's weight is below e^-128 and vanishes next to 1.  O is that key's V, which encodes its page, slot and head.  If head_dim is
// a power of 4, the scale is a power of 2 and L is exact too.
double probe_one_key(const FillSite& s, std::int64_t i) {
  const std::int64_t dim = s.dims[Axis::head_dim], kv_heads = s.dims[Axis::kv_heads], size = s.dims[Axis::page_size];
  if (is_v(s)) {
    const std::int64_t page = slot(s, i) / size, digits[] = {page, page / 64, page / 4096, slot(s, i) % size, i / dim % kv_heads};
    return static_cast<double>(digits[i % dim % 5] % 64 + i % dim % 3);
  }
  std::int64_t row = i / dim;
  if (is_q(s)) {
    const Fill defaults{};
    const std::int64_t heads = s.dims[Axis::heads], queries = s.dims[Axis::seq_q], b = row / heads / queries;
    const std::int64_t length = length_of(s, defaults, b), last = length - queries + row / heads % queries;
    if (last < 0) return 0;
    const std::int64_t at = draws::draw(s, Purpose::row, row, last + 1);
    row = row_of(s, defaults, b, at) * kv_heads + row % heads / (heads / kv_heads);
  }
  const double code = random::sign(random::key(s.seed, 1, Purpose::sign), at(row * dim + i % dim));
  return is_q(s) ? 1024 * code : code;
}

// Q = 0: every visible key has the same weight, and V is one-hot: a nonzero value where 0 is expected identifies a slot that
// should not have been read.
double probe_equal_weights(const FillSite& s, std::int64_t i) {
  if (is_q(s)) return 0;
  return is_k(s) ? normal(s, i) : slot(s, i) % s.shape[3] == i % s.shape[3] ? 1 : 0;
}
double values_one(const FillSite& s, std::int64_t i) { return is_v(s) ? 1 : normal(s, i); }
double negative_scores(const FillSite& s, std::int64_t i) {
  return is_v(s) ? normal(s, i) : std::fabs(normal(s, i)) * (is_k(s) ? -1 : 1);
}

// q = N(0,1) + direction and k = direction: the score is about sqrt(head_dim).
double hot(const FillSite& s, std::int64_t i, bool here) {
  const auto direction = random::sign(shared_key(s, Purpose::column), at(i % s.dims[Axis::head_dim]));
  if (is_q(s)) return normal(s, i) + direction;
  return is_k(s) && here ? normal(s, i) / 4 + direction : normal(s, i);
}
double hot_keys(const FillSite& s, std::int64_t i) { return hot(s, i, slot(s, i) % 37 == 5); }
// The newest position of a sequence.
double hot_last_key(const FillSite& s, std::int64_t i) {
  const Fill defaults{};
  bool last = false;
  for (std::int64_t b = 0; is_k(s) && !last && b < s.dims[Axis::batch]; ++b)
    if (const std::int64_t length = length_of(s, defaults, b); length > 0)
      last = row_of(s, defaults, b, length - 1) == slot(s, i);
  return hot(s, i, last);
}
double sharp_scores(const FillSite& s, std::int64_t i) { return normal(s, i) * (is_q(s) ? 8 : 1); }
double large_values(const FillSite& s, std::int64_t i) {
  if (!is_v(s)) return normal(s, i);
  return sign(s, i) * (s.dtype == f16 ? 59000 + 6000 * uniform(s, i) : 0x1p39 * (1 + 0.99 * uniform(s, i)));
}
double wide_values(const FillSite& s, std::int64_t i) {
  if (!is_v(s)) return normal(s, i);
  const int e = static_cast<int>(draws::draw(s, Purpose::exponent, i, 24)) - 12;
  return sign(s, i) * random::power_of_two(e) * (1 + 0.999 * uniform(s, i));
}
// For one key in eleven one channel of V is NaN or inf; Q and K are N(0, 1).
double special_values(const FillSite& s, std::int64_t i) {
  const auto row = static_cast<std::uint64_t>(i / s.shape[3]);
  if (!is_v(s) || !random::one_in(key(s, Purpose::row), row, 11) ||
      random::index(key(s, Purpose::column), row, s.shape[3]) != i % s.shape[3])
    return normal(s, i);
  return special(random::index(key(s, Purpose::kind), row, 3));
}

}  // namespace

static Hooks hooks() {
  using namespace attention_relations;
  using namespace paged_relations;
  return {
      .fills =
          {{.name = "probe_one_key",
            .shows = "a wrong page, slot, sequence, head or channel: O is the V of one key, which encodes its place; exact",
            .value = probe_one_key,
            .exact = attention_fills::power_of_four,
            .exact_with = attention_fills::plain_scores,
            .applies = [](const Dims& d, DType) { return d[Axis::head_dim] >= 32; }},
           {.name = "probe_equal_weights",
            .shows = "an unused slot that is read, or a used one that is not: the zeros of O identify it",
            .coherent = true,
            .value = probe_equal_weights},
           {.name = "values_one", .shows = "weights that do not sum to one", .value = values_one},
           {.name = "negative_scores",
            .shows = "a slot past the end, with score zero, that is included",
            .coherent = true,
            .value = negative_scores},
           {.name = "hot_last_key", .shows = "a skipped newest position: a stale length", .value = hot_last_key},
           {.name = "hot_keys", .shows = "sums that are not rescaled, splits joined without their weights", .value = hot_keys},
           {.name = "sharp_scores", .shows = "scores or exponents with too few bits", .value = sharp_scores},
           {.name = "large_values", .shows = "an output accumulator that overflows the storage dtype", .value = large_values},
           {.name = "wide_values", .shows = "an accumulator with too few bits", .value = wide_values},
           attention_fills::kLowestScores,
           attention_fills::kFaintKeys,
           attention_fills::kDeadKeys,
           attention_fills::kSubnormalQueries,
           attention_fills::kSubnormalKeys,
           {.name = "special_values",
            .shows = "NaN or inf in V that is lost, or leaks from a hidden key",
            .value = special_values}},
      .relations = {paged_relations::kPagesHalved, attention_relations::kQueryDoubled}};
}

static const LinkedHooks<paged_attention> linked(hooks);

}  // namespace assay
