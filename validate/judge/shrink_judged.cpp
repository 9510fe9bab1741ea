// SPDX-License-Identifier: Apache-2.0
// shrink() with the judge: each trial runs in a worker process, as in any run.
#include <memory>

#include "validate/base/stopwatch.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/problem/image.hpp"

namespace assay {

Shrunk shrink(const Record& failed, const JudgeOptions& options, double seconds) {
  // Time limit of a trial in seconds if the case hung, since each hang costs that much.  Other failures keep the run's limit: on
  // a slow host they might not end within a shorter one, and would no longer be the same failure.
  constexpr double kLongestHang = 2;
  const Stopwatch spent;
  const Op* op = find_op(failed.c.op);
  const Kernel* kernel = op ? find_kernel(failed.c.op, failed.kernel) : nullptr;
  if (!kernel || !can_shrink(failed)) return {.of = failed.repro};
  const OpShape shape = op->shape();
  // A contract checks shapes and the values of integer tensors (indices, lengths, positions), so only these are filled.
  const auto legal = [&](const Case& c) {
    const std::unique_ptr<Problem> problem = op->make();
    const std::vector<Placement> placements = place(*op, c);
    std::vector<std::vector<std::byte>> integers(placements.size());
    std::vector<std::byte*> images(placements.size(), nullptr);
    for (std::size_t i = 0; i < placements.size(); ++i) {
      if (!is_given(op->tensors[i]) || is_float(placements[i].tensor.dtype)) continue;
      integers[i].resize(placements[i].bytes);
      images[i] = integers[i].data();
      fill_image(*op, c, static_cast<int>(i), placements[i], images[i], {});
    }
    attach(*problem, c, placements, images);
    return static_cast<bool>(problem->legal());
  };
  const TryCases trials = [&](std::span<const Case> cases, const auto& wanted, const auto& judged) {
    const double left = seconds - spent.seconds();
    if (left <= 0 || (options.stop && *options.stop)) return;
    std::vector<Task> tasks;
    for (const Case& c : cases) tasks.push_back({op, c, {kernel}});
    JudgeOptions of = options;
    of.budget_s = left, of.jobs = 1;
    if (failed.verdict == Verdict::timeout) of.timeout_s = std::min(options.timeout_s, kLongestHang);
    of.fail_fast = false, of.sectors = false, of.policies = false, of.enough = {};
    of.relations = Relations::all, of.power = nullptr;
    of.wanted = [&](const Task& t) { return wanted(static_cast<std::size_t>(&t - tasks.data())) && legal(t.c); };
    std::size_t number = 0;
    judge(tasks, of, [&](const Record& r) { judged(number++, r); });
  };
  Shrunk found = shrink(failed, shape, *kernel, trials);
  found.seconds = spent.seconds();
  return found;
}

}  // namespace assay
