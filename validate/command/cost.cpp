// SPDX-License-Identifier: Apache-2.0
// cost: times the judge's own work on each case: inputs, golden, comparison.  No kernel runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "validate/base/error.hpp"
#include "validate/base/memory.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/command/commands.hpp"
#include "validate/judge/compare.hpp"
#include "validate/judge/prepare.hpp"
#include "validate/problem/composite.hpp"
#include "validate/tasks/memory.hpp"

namespace assay {

namespace {

// Seconds of comparing every output.  The outputs are zeros, which takes as long as any others.  For an op with stages this
// includes the goldens of its stages, which are solved from the outputs.
double compare_all(const Prepared& p) {
  const Op& op = *p.task->op;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<std::byte*> images;
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    images.push_back(is_given(op.tensors[i]) ? p.inputs.data() + p.packing.given[i]
                                             : outputs.emplace_back(p.packing.placements[i].bytes + 1).data());
  const Stopwatch comparing;
  std::unique_ptr<Problem> own;
  const Problem& judged = judged_by(op, p.task->c, p.packing.placements, images, *p.problem, own);
  int output = 0;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    if (op.tensors[i].role != Role::output) continue;
    Tensor got = p.packing.placements[i].tensor;
    got.data = images[i];
    compare(judged, p.task->kernels.front()->numerics, output++, got, p.exact);
  }
  return comparing.seconds();
}

}  // namespace

int cost_command(const Selection& selection, const std::vector<std::string>& lines) {
  std::vector<Task> tasks;
  const std::vector<OpShape> shapes = op_shapes();
  for (const std::string& line : lines) {
    const Repro parsed = parse_repro(line, shapes);
    const Op& op = op_named(parsed.what.op);
    const auto of_op = [&](const Kernel& k) { return k.op == op.name && !k.broken; };
    tasks.push_back({&op, parsed.what, {&*std::find_if(kernels().begin(), kernels().end(), of_op)}});
  }
  if (lines.empty()) tasks = tasks_of(selection, false);
  fmt::print("  {:>8}  {:>8}  {:>10}  {:>16}  {:>9}\n", "inputs", "golden", "comparison", "rows checked", "us a row");
  for (const Task& task : tasks) {
    if (stop_requested) return kInterrupted;
    if (const std::string why = too_large(task, memory_of(task, {}).peak(), available_memory()); !why.empty()) {
      fmt::print("{}\n  left out: {}\n", repro(task.c, task.op->shape()), why);
      continue;
    }
    PrepareTimes times;
    const auto p = prepare(task, 0, false, &times);
    const double comparison = compare_all(*p);
    const Rows& rows = p->problem->rows();
    const auto checked = rows.all() ? rows.total : static_cast<std::int64_t>(rows.sample.size());
    fmt::print("{}\n  {:>6.2f} s  {:>6.2f} s  {:>8.2f} s  {:>16}  {:>9.1f}\n", repro(task.c, task.op->shape()), times.inputs_s,
               times.golden_s, comparison, fmt::format("{} of {}", checked, rows.total),
               1e6 * times.golden_s / static_cast<double>(std::max<std::int64_t>(1, checked)));
    std::fflush(stdout);
  }
  return tasks.empty() ? kIncomplete : kAllPassed;
}

}  // namespace assay
