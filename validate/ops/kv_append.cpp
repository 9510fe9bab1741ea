// SPDX-License-Identifier: Apache-2.0
// Judge hooks of kv_append: exact probes, fills, relations.
#include "ops/kv_append.hpp"

#include "validate/ops/paged_relations.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/paged_fills.hpp"

namespace assay {

namespace {

using namespace paged_fills;

// Pools hold zeros; a new row holds its sequence, its index among the new rows, its head and its channel, in turn; V is negative.
double probe_rows(const FillSite& s, std::int64_t i) {
  if (s.tensor == "k_pool" || s.tensor == "v_pool") return 0;
  const std::int64_t dim = s.shape[3], c = i % dim, head = i / dim % s.shape[2], row = i / dim / s.shape[2];
  const std::int64_t digits[] = {row / s.shape[1], row % s.shape[1], head, c};
  return static_cast<double>(digits[c % 4] % 64 + 1) * (s.tensor == "v" ? -1 : 1);
}
// NaN in the pools: old values must be preserved bit for bit.
double pool_of_nan(const FillSite& s, std::int64_t i) {
  return s.tensor == "k_pool" || s.tensor == "v_pool" ? std::numeric_limits<double>::quiet_NaN() : normal(s, i);
}

}  // namespace

static Hooks hooks() {
  return {
      .fills = {{.name = "probe_rows",
                 .shows = "a wrong row, head or channel, K and V swapped; exact",
                 .value = probe_rows,
                 .exact = always},
                {.name = "pool_of_nan", .shows = "slots that are changed although no new row goes there", .value = pool_of_nan}},
      .relations = {paged_relations::kPagesHalved}};
}

static const LinkedHooks<kv_append> linked(hooks);

}  // namespace assay
