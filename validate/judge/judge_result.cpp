// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/records/policy.hpp"
#include "validate/records/policy_figures.hpp"
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
                         ? result.outputs->data() + run * p.packing.output_bytes + p.packing.at[i]
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
    got.data = result.outputs->data() + p.packing.at[i];
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
    replayed.data = result.outputs->data() + kReplayed * p.packing.output_bytes + p.packing.at[i];
    direct.data = result.outputs->data() + kDirect * p.packing.output_bytes + p.packing.at[i];
    if (!same_elements(direct, replayed))
      return fmt::format("graph replay on changed inputs gives another '{}' than a direct launch", p.task->op->tensors[i].name);
  }
  return {};
}

}  // namespace

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
  judge_outputs(*result.of, *result.kernel, {images, result.outputs->data(), result.related},
                {options.declared.get(), options.suggested.get()}, r);
  return r;
}

}  // namespace assay
