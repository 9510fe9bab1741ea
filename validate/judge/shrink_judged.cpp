// SPDX-License-Identifier: Apache-2.0
// shrink() with the judge: each trial runs in a worker process, as in any run.
#include <algorithm>
#include <memory>

#include "validate/base/stopwatch.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/problem/image.hpp"

namespace assay {

namespace {

// Whether the case fails in the same way, twice, after these cases in one process.
bool fails_after(const Record& failed, const Op& op, const Kernel& kernel, std::span<const Case> cases, JudgeOptions options) {
  std::vector<Task> tasks;
  for (const Case& c : cases) tasks.push_back({&op, c, {&kernel}});
  tasks.push_back({&op, failed.c, {&kernel}});
  options.in_order = true;
  for (int time = 0; time < 2; ++time) {
    std::string last;
    judge(tasks, options, [&](const Record& r) { last = failure_kind(r); });
    if (last != failure_kind(failed)) return false;
  }
  return true;
}

}  // namespace

Shrunk shrink(const Record& failed, std::span<const Case> before, const JudgeOptions& options, double seconds) {
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
      if (!is_given(op->tensors[i]) || !is_index(placements[i].tensor.dtype)) continue;
      integers[i].resize(placements[i].bytes);
      images[i] = integers[i].data();
      fill_image(*op, c, static_cast<int>(i), placements[i], images[i], {});
    }
    attach(*problem, c, placements, images);
    return static_cast<bool>(problem->legal());
  };
  const auto no_time = [&] { return spent.seconds() >= seconds || (options.stop && *options.stop); };
  const auto of_trial = [&] {
    JudgeOptions of = options;
    of.budget_s = std::max(1e-3, seconds - spent.seconds());
    of.spent_s = 0;
    of.jobs = 1;
    if (failed.verdict == Verdict::timeout) of.timeout_s = std::min(options.timeout_s, kLongestHang);
    of.fail_fast = false;
    of.sectors = false;
    of.policies = false;
    of.enough = {};
    of.relations = Relations::all;
    of.power = nullptr;
    of.declared = nullptr;
    return of;
  };
  const TryCases trials = [&](std::span<const Case> cases, const auto& wanted, const auto& judged) {
    if (no_time()) return;
    std::vector<Task> tasks;
    for (const Case& c : cases) tasks.push_back({op, c, {kernel}});
    JudgeOptions of = of_trial();
    of.wanted = [&](const Task& t) { return wanted(static_cast<std::size_t>(&t - tasks.data())) && legal(t.c); };
    std::size_t number = 0;
    judge(tasks, of, [&](const Record& r) { judged(number++, r); });
  };
  Shrunk found = shrink(failed, shape, *kernel, trials);
  if (found.same_seed.run > 0 && found.same_seed.failed == 0) {
    constexpr std::size_t kMost = 64;
    for (std::size_t n = 1; n <= kMost && n < 2 * before.size() && !no_time(); n *= 2) {
      const std::span<const Case> last = before.last(std::min(n, before.size()));
      if (!fails_after(failed, *op, *kernel, last, of_trial())) continue;
      found.label = "needs earlier calls";
      for (const Case& c : last) found.after.push_back(repro(c, shape, kernel->name));
      break;
    }
  }
  found.seconds = spent.seconds();
  return found;
}

}  // namespace assay
