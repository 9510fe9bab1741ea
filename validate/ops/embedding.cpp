// SPDX-License-Identifier: Apache-2.0
// Judge hooks of embedding: exact probes, fills, the second oracle, relations.
#include "ops/embedding.hpp"

#include "ops/core/one_lower.hpp"
#include "validate/ops/elementwise_fills.hpp"
#include "validate/ops/gemm_relations.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {

namespace {

// Odd columns hold the row number in base 64, three digits in turn; even columns the column number.
double probe_ids(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = s.shape.back(), row = i / hidden, col = i % hidden;
  if (col % 2 == 0 && hidden > 1) return static_cast<double>(col / 2 % 128);
  return static_cast<double>(row >> (6 * (col / 2 % 3)) & 63) + 64;
}

std::int64_t backwards(const FillSite& s, std::int64_t i) { return s.index_extent - 1 - i % s.index_extent; }
std::int64_t last_row(const FillSite& s, std::int64_t) { return s.index_extent - 1; }

void oracle(const void* args, const Numerics&, Roundings roundings, std::span<double> y) {
  const auto& a = *static_cast<const embedding::Args*>(args);
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t h = 0; h < hidden; ++h) {
      const double v = a.table.at(static_cast<std::int64_t>(a.ids.at(t)) * hidden + h);
      y[static_cast<std::size_t>(t * hidden + h)] = roundings == Roundings::one_lower ? round_to(one_lower(a.y.dtype), v) : v;
    }
}

}  // namespace

static Hooks hooks() {
  using namespace elementwise_fills;
  return {
      .fills = {{.name = "probe_ids", .shows = "a wrong row or column; exact", .value = probe_ids, .exact = always},
                {.name = "ids_backwards",
                 .shows = "the position used instead of the id, swapped ids",
                 .value = normal,
                 .integer = backwards,
                 .exact = always},
                {.name = "ids_round",
                 .shows = "the first id of a chunk or a shard not found",
                 .value = normal,
                 .integer = round_place,
                 .exact = always},
                {.name = "ids_last",
                 .shows = "an id with too few bits, an unreachable last row; many tokens with one id",
                 .value = normal,
                 .integer = last_row,
                 .exact = always}},
      .oracle = oracle,
      .relations = {gemm_relations::kTokensPermuted,
                    gemm_relations::kFirstTokens,
                    gemm_relations::features_permuted(Axis::hidden),
                    relations::permuted("table_permuted", Axis::vocab, "a result that depends on the id itself, not on its row"),
                    {.name = "table_doubled", .shows = "clamping of copied values", .scaled = {{"table", 2}, {"y", 2}}}}};
}

static const LinkedHooks<embedding> linked(hooks);

}  // namespace assay
