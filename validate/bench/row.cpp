// SPDX-License-Identifier: Apache-2.0
// One row of bench: the kernels that take part in it, and the beginning of its records and printed lines.
#include <fmt/format.h>

#include <algorithm>

#include "validate/bench/bench.hpp"
#include "validate/problem/image.hpp"
#include "validate/records/fields/row_fields.hpp"

namespace assay {

RecordedRow recorded_row(const BenchShape& shape, const Kernel& k) {
  RecordedRow row{.op = std::string(shape.op->name),
                  .kernel = std::string(k.name),
                  .backend = "cuda",
                  .dtype = shape.c.dtype,
                  .shape = summary(shape.c, shape.op->shape())};
  if (k.loaded) row.loaded = k.loaded->flags;
  if (const auto& p = shape.place) row.suite = {p->suite, p->table, p->label, p->reported};
  return row;
}

std::string row_text(const BenchShape& shape, const Kernel& k) {
  return fmt::format("{}/{} {} {}", shape.op->name, k.name, name(shape.c.dtype), summary(shape.c, shape.op->shape()));
}

std::vector<const Kernel*> bench_candidates(const BenchShape& shape, const BenchFlags& flags) {
  std::vector<const Kernel*> chosen;
  const bool any_kept = flags.selection.kernels.empty() && flags.selection.pattern.empty();
  for (const Kernel& k : kernels()) {
    if (k.op != shape.op->name || k.broken || k.variant || !k.dtypes.has(shape.c.dtype)) continue;
    if (is_vendor(k) && flags.selection.no_vendor) continue;
    const bool reference = flags.baseline != "none" && (k.name == "unfused" || k.name == flags.baseline || is_vendor(k));
    const bool kept = shape.kernels.empty() || k.loaded || has(shape.kernels, k.name);
    if (reference || (any_kept ? kept : asked(flags.selection, k, shape.c.dtype))) chosen.push_back(&k);
  }
  return chosen;
}

}  // namespace assay
