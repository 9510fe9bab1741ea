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

// The images of one run, by tensor; null: no output.
Images images_of(const WorkerResult& result, std::size_t run) {
  const Prepared& p = *result.of;
  Images images(p.task->op->tensors.size(), nullptr);
  for (std::size_t i = 0; i < images.size(); ++i)
    if (p.task->op->tensors[i].role == Role::output)
      images[i] = result.outputs->data() + run * p.packing.output_bytes + p.packing.at[i];
  return images;
}

// What case, kernel and reply say, with the verdict so far.
Record told(const WorkerResult& result, const JudgeOptions& options) {
  const Prepared& p = *result.of;
  const Reply& reply = result.reply;
  Record r = blank_record(*p.task, *result.kernel, options.backend, options.not_checked);
  r.verdict = result.verdict;
  r.reason = reply.message;
  r.exact = p.asks_exact(result.kernel->numerics);
  r.cost = p.problem->cost();
  r.rows_checked = p.problem->rows().sample;
  r.rows = p.problem->rows().total;
  r.memory = p.needs.with_workspace(reply.workspace, options.backend).peak();
  r.seconds = reply.seconds;
  r.traffic = reply.traffic;
  r.sites = reply.sites;
  if (!reply.fidelity.empty()) r.fidelity = reply.fidelity;
  return r;
}

// Whether the reason is a finding that only the watch makes.  A finding begins with its kind.
bool found_by_watch(std::string_view reason) {
  constexpr std::string_view kKinds[] = {"shared_race:", "global_race:", "uninitialised:", "unwritten:", "plain_access:"};
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](std::string_view kind) { return reason.starts_with(kind); });
}

// T4, watch: how the launches ended.  Our own worker skips what no kernel of its machine could do.  Another's word that it left a
// case out is no evidence of anything.
void judge_call(const WorkerResult& result, Record& r) {
  if (is_bad(r.verdict)) r.caught(found_by_watch(r.reason) ? Tier::watch : Tier::T4);
  r.call_failed = result.reply.tainted || r.reason.starts_with("bad_launch");
  const bool by_other = result.kernel->loaded && !is_own_worker(result.kernel->loaded->command);
  const bool unjudged = result.reply.tainted || by_other || r.reason.starts_with(kMachine);
  r.incomplete = (r.verdict == Verdict::skipped && unjudged) || r.reason.starts_with(kNotWatchable);
}

// T4: a graph replay on changed inputs must give the bits of a direct launch on them.  It does not if the kernel reads inputs at
// capture time, works on another stream or keeps an earlier result.
constexpr std::size_t kReplayed = kRuns, kDirect = kRuns + 1;  // numbers of these runs
void judge_replay(const WorkerResult& result, Record& r) {
  const Prepared& p = *result.of;
  const Images replayed = images_of(result, kReplayed), direct = images_of(result, kDirect);
  for (std::size_t i = 0; i < direct.size(); ++i) {
    if (!direct[i]) continue;
    Tensor a = p.packing.placements[i].tensor, b = a;
    a.data = replayed[i];
    b.data = direct[i];
    if (!same_elements(a, b))
      report(Tier::T4,
             fmt::format("graph replay on changed inputs gives another '{}' than a direct launch", p.task->op->tensors[i].name),
             r);
  }
}

// Adds the policies' figures of the first run, which decide nothing.
void add_policy_figures(const WorkerResult& result, Record& r) {
  const Prepared& p = *result.of;
  const Images images = images_of(result, 0);
  std::unique_ptr<Problem> own;
  const Problem& problem = problem_judging(p, images, own, result.reply.steps);
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i]) continue;
    Tensor got = p.packing.placements[i].tensor;
    got.data = images[i];
    r.policy_figures.push_back(policy_figures(problem, static_cast<int>(r.policy_figures.size()), got));
  }
}

}  // namespace

Record judge_result(const WorkerResult& result, const JudgeOptions& options) {
  Record r = told(result, options);
  const bool ran = r.verdict == Verdict::passed;
  judge_call(result, r);
  if (ran && result.reply.ran > kDirect) judge_replay(result, r);
  if (options.policies && (ran || result.reply.outputs)) add_policy_figures(result, r);
  if (r.verdict == Verdict::passed) {
    const Images images[kRuns] = {images_of(result, 0), images_of(result, 1)};
    const Runs runs{images, result.outputs->data(), result.related, result.reply.steps};
    judge_outputs(*result.of, *result.kernel, runs, {options.declared.get(), options.suggested.get()}, r);
  }
  return r;
}

}  // namespace assay
