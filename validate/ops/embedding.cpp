// SPDX-License-Identifier: Apache-2.0
// Judge hooks of embedding: exact probes, fills.
#include "ops/embedding.hpp"

#include "validate/ops/elementwise_fills.hpp"
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

}  // namespace

static Hooks hooks() {
  using namespace elementwise_fills;
  return {.fills = {{.name = "probe_ids", .shows = "a wrong row or column; exact", .value = probe_ids, .exact = always}}};
}

static const LinkedHooks<embedding> linked(hooks);

}  // namespace assay
