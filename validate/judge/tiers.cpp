// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/tiers.hpp"
#include "validate/judge/relation_check.hpp"

#include <algorithm>

namespace assay {

std::string judge_together(Prepared& p, const Problem& problem, const Numerics& numerics, const Tensor& got, Record& r) {
  if (p.exact) return {};
  const Aggregate a = aggregate(problem, p.task->op->hooks, numerics, got);
  if (a.elements == 0) return {};
  const double by_oracle = p.predictions.rms(*p.task->op, problem, numerics, got);
  const double unit = by_oracle > 0 ? by_oracle : a.predicted_rms;
  r.rms_ratio = a.rms / unit, r.bias = a.bias / unit;
  // Note: what depends on few inputs takes few values in 16 bits; their roundings repeat, and are no independent draws.
  return p.scattered && !p.task->op->hooks.summed.empty() ? verdict_of(a, unit) : std::string();
}

std::string judge_relations(const Prepared& p, const Kernel& kernel, const std::byte* outputs, const std::vector<bool>& related,
                            Record& r) {
  const Op& op = *p.task->op;
  for (std::size_t k = 0; k < std::min(p.relations.size(), related.size()); ++k) {
    const Relation* relation = find_relation(op, p.relations[k]);
    if (!relation || !related[k]) continue;
    r.relations.push_back(p.relations[k]);
    const std::byte* of_related = outputs + (static_cast<std::size_t>(kRuns) + k) * p.packing.output_bytes;
    std::string why =
        judge_relation(op, kernel, *relation, p.task->c, *p.problem, p.packing, p.inputs.data(), outputs, of_related);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace assay
