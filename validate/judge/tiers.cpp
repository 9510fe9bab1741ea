// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/tiers.hpp"

#include "validate/judge/relation_check.hpp"

namespace assay {

std::string judge_together(Prepared& p, const Problem& problem, const Numerics& numerics, const Tensor& got, int output,
                           Record& r) {
  // Note: an output of an op without sums depends on few inputs, so it takes few values in 16 bits and its roundings repeat.
  if (p.exact || !p.scattered || p.task->op->hooks.summed.empty() || (output != 0 && numerics.of_output)) return {};
  const Aggregate a = aggregate(problem, p.task->op->hooks, numerics, got, output);
  if (a.elements == 0) return {};
  if (output != 0) return aggregate_fault(a, a.predicted_rms);
  const double by_oracle = p.predictions.rms(*p.task->op, problem, numerics, got);
  const double unit = by_oracle > 0 ? by_oracle : a.predicted_rms;
  r.rms_ratio = a.rms / unit, r.bias = a.bias / unit;
  return aggregate_fault(a, unit);
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
