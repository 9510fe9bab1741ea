// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/records/policy.hpp"
#include "validate/records/policy_figures.hpp"
#include "validate/values/random.hpp"
#include "validate/values/tensor_bits.hpp"
#include "validate/worker/process.hpp"

namespace assay {

namespace {

// Whether the reason is a finding that only the watch makes.  A finding begins with its kind.
bool found_by_watch(std::string_view reason) {
  constexpr std::string_view kKinds[] = {"shared_race:", "global_race:", "uninitialised:", "unwritten:", "plain_access:"};
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](std::string_view kind) { return reason.starts_with(kind); });
}

// The outputs of one run.
Images images_of(const WorkerResult& result, std::size_t run) {
  const Prepared& p = *result.of;
  Images images;
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i)
    images.push_back(p.task->op->tensors[i].role == Role::output
                         ? result.outputs.data() + run * p.packing.output_bytes + p.packing.at[i]
                         : nullptr);
  return images;
}

// Adds the policies' figures of the first run.
void ask_policies(const WorkerResult& result, Record& r) {
  const Prepared& p = *result.of;
  std::unique_ptr<Problem> own;
  const Problem& problem = problem_judging(p, images_of(result, 0), own);
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    if (p.task->op->tensors[i].role != Role::output) continue;
    Tensor got = p.packing.placements[i].tensor;
    got.data = result.outputs.data() + p.packing.at[i];
    r.policy_figures.push_back(policy_figures(problem, static_cast<int>(r.policy_figures.size()), got));
  }
}

// A graph replay on changed inputs must give the bits of a direct launch on them.  It does not if the kernel reads inputs at
// capture time, works on another stream or keeps an earlier result.  Returns what is wrong; empty if nothing is.
std::string judge_replay(const WorkerResult& result) {
  const Prepared& p = *result.of;
  constexpr std::size_t kReplayed = kRuns, kDirect = kRuns + 1;
  if (result.reply.ran <= kDirect) return {};
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    if (p.task->op->tensors[i].role != Role::output) continue;
    Tensor replayed = p.packing.placements[i].tensor, direct = replayed;
    replayed.data = result.outputs.data() + kReplayed * p.packing.output_bytes + p.packing.at[i];
    direct.data = result.outputs.data() + kDirect * p.packing.output_bytes + p.packing.at[i];
    if (!same_elements(direct, replayed))
      return fmt::format("graph replay on changed inputs gives another '{}' than a direct launch", p.task->op->tensors[i].name);
  }
  return {};
}

}  // namespace

std::size_t calls_before(const Prepared& p) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  constexpr std::uint64_t kOneIn = 4;
  const std::uint64_t drawn = random::mix(p.task->c.seed) >> 3;  // Note: three bits chose the case for a second set
  return p.packing.input_bytes <= kMostBytes && drawn % kOneIn == 0 ? 4 + (drawn >> 2) % 32 : 1;
}

std::vector<OrderRun> runs_of(const Kernel& kernel, const Prepared& p, const JudgeOptions& options) {
  const std::uint64_t seed = p.task->c.seed;
  // The second run takes threads in reverse order for even seeds, shuffled for odd ones.
  const int other_order = 1 + static_cast<int>(seed & 1);
  std::vector<OrderRun> runs;
  for (int k = 0; k < kRuns; ++k)
    runs.push_back(
        {.how = {.order = k == 0 ? 0 : other_order, .seed = seed, .sectors = options.sectors && k == 0, .watch = options.watch},
         .garbage = kGarbage[k],
         .after = k == 0 && p.input_sets > 1 && !options.watch ? std::optional<std::size_t>(1) : std::nullopt,
         .calls = calls_before(p),
         .keeps = k > 0 && !options.watch});
  if (p.input_sets > 1 && kernel.deterministic && options.backend == "cuda")
    for (const bool replayed : {true, false}) runs.push_back({.garbage = kGarbage[1], .inputs = 1, .replayed = replayed});
  return runs;
}

Verdict verdict_of(const Reply& reply) {
  switch (reply.status) {
    case Reply::Status::done: return Verdict::passed;
    case Reply::Status::unsupported: return Verdict::unsupported;
    case Reply::Status::skipped: return Verdict::skipped;
    case Reply::Status::failed: break;
  }
  return Verdict::failed;
}

Record skipped(const Task& task, const Kernel& kernel, const JudgeOptions& options, std::string why, bool incomplete) {
  Record r = blank_record(task, kernel, options.backend, options.not_checked);
  r.verdict = Verdict::skipped;
  r.incomplete = incomplete;
  r.reason = std::move(why);
  return r;
}

Record judge_result(const WorkerResult& result, const JudgeOptions& options) {
  const Task& task = *result.of->task;
  Record r = blank_record(task, *result.kernel, options.backend, options.not_checked);
  r.exact = result.of->asks_exact(result.kernel->numerics);
  r.verdict = result.verdict;
  r.reason = result.reply.message;
  // Our own worker skips what no kernel of its machine could do.  Another's word that it left a case out is no evidence of
  // anything.
  const bool by_other = result.kernel->loaded && !is_own_worker(result.kernel->loaded->command);
  const bool unjudged = result.reply.tainted || by_other || r.reason.starts_with(kMachine);
  r.incomplete = (r.verdict == Verdict::skipped && unjudged) || r.reason.starts_with(kNotWatchable);
  r.seconds = result.reply.seconds;
  r.traffic = result.reply.traffic;
  r.sites = result.reply.sites;
  if (!result.reply.fidelity.empty()) r.fidelity = result.reply.fidelity;
  r.cost = result.of->problem->cost();
  r.memory = result.of->needs.with_workspace(result.reply.workspace, options.backend).peak();
  r.rows_checked = result.of->problem->rows().sample;
  r.rows = result.of->problem->rows().total;
  if (r.verdict == Verdict::passed)
    if (std::string why = judge_replay(result); !why.empty()) {
      r.verdict = Verdict::failed;
      r.reason = std::move(why);
    }
  if (is_bad(r.verdict)) r.caught(found_by_watch(r.reason) ? Tier::watch : Tier::T4);
  r.call_failed = result.reply.tainted || r.reason.starts_with("bad_launch");
  if (options.policies && (result.verdict == Verdict::passed || result.reply.outputs)) ask_policies(result, r);
  if (r.verdict != Verdict::passed) return r;
  const Images images[kRuns] = {images_of(result, 0), images_of(result, 1)};
  judge_outputs(*result.of, *result.kernel, {images, result.outputs.data(), result.related},
                {options.declared, options.suggested}, r);
  return r;
}

}  // namespace assay
