// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/tiers.hpp"

#include "validate/judge/relation_check.hpp"

namespace assay {

std::string judge_together(Prepared& p, const Problem& problem, const Numerics& numerics, const Tensor& got, Record& r) {
  if (p.exact) return {};
  const Aggregate a = aggregate(problem, p.task->op->hooks, numerics, got);
  if (a.elements == 0) return {};
  const double by_oracle = p.predictions.rms(*p.task->op, problem, numerics, got);
  const double unit = by_oracle > 0 ? by_oracle : a.predicted_rms;
  r.rms_ratio = a.rms / unit, r.bias = a.bias / unit;
  // Note: an output of an op without sums depends on few inputs, so it takes few values in 16 bits and its roundings repeat.
  return p.scattered && !p.task->op->hooks.summed.empty() ? aggregate_fault(a, unit) : std::string();
}

std::string judge_relations(const Prepared& p, const Kernel& kernel, const std::byte* outputs,
                            const std::vector<RelatedRun>& related, Record& r) {
  for (const RelatedRun& run : related) {
    r.relations.emplace_back(run.relation->name);
    std::string why = judge_relation(*p.task->op, kernel, *run.relation, p.task->c, *p.problem, p.packing, p.inputs.data(),
                                     outputs, run.outputs.data());
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace assay
