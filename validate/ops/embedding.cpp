// SPDX-License-Identifier: Apache-2.0
// What only the judge needs for embedding: exact probes, the fills of its own edges, the second oracle.
#include "ops/embedding.hpp"

#include "validate/ops/elementwise_fills.hpp"
#include "validate/ops/gemm_relations.hpp"
#include "validate/ops/one_lower.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

// The row's number in the odd columns, in base 64, three digits in turn; the column's in the even ones.
double probe_ids(const FillSite& s, std::int64_t i) {
  const std::int64_t hidden = s.shape.back(), row = i / hidden, col = i % hidden;
  if (col % 2 == 0 && hidden > 1) return static_cast<double>(col / 2 % 128);
  return static_cast<double>(row >> (6 * (col / 2 % 3)) & 63) + 64;
}

std::int64_t backwards(const FillSite& s, std::int64_t i) { return s.places - 1 - i % s.places; }
std::int64_t last_row(const FillSite& s, std::int64_t) { return s.places - 1; }

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

Hooks hooks_of_embedding() {
  using namespace elementwise_fills;
  return {.fills = {{.name = "probe_ids",
                     .shows = "a row or a column that is not its own; exact",
                     .value = probe_ids,
                     .exact = always},
                    {.name = "ids_backwards",
                     .shows = "the position taken for the id, ids of neighbouring tokens swapped",
                     .value = normal,
                     .integer = backwards,
                     .exact = always},
                    {.name = "ids_last",
                     .shows = "an id of too few bits, a last row that is left out; many tokens at one row",
                     .value = normal,
                     .integer = last_row,
                     .exact = always}},
          .oracle = oracle,
          .relations = {gemm_relations::kTokensPermuted,
                        gemm_relations::kFirstTokens,
                        gemm_relations::features_permuted(Axis::hidden),
                        relations::permuted("table_permuted", Axis::vocab, "an id whose number matters"),
                        {.name = "table_doubled", .shows = "a clamp of what is copied", .scaled = {{"table", 2}, {"y", 2}}}}};
}

}  // namespace assay
