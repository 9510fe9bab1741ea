// SPDX-License-Identifier: Apache-2.0
// One row of bench: the kernels that take part in it, and the beginning of its records and printed lines.
#include <fmt/format.h>

#include <algorithm>

#include "validate/bench/bench.hpp"
#include "validate/problem/image.hpp"

namespace assay {

BenchJson head_of_row(std::string_view record, const BenchShape& shape, const Kernel& k) {
  BenchJson j{{"record", record},  {"op", shape.op->name},         {"kernel", k.name},
              {"backend", "cuda"}, {"dtype", name(shape.c.dtype)}, {"shape", summary(shape.c, shape.op->shape())}};
  if (k.loaded) j["loaded"] = k.loaded->flags;
  if (const auto& p = shape.place)
    j["suite"] = {{"name", p->suite}, {"table", p->table}, {"label", p->label}, {"reported", p->reported}};
  return j;
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
