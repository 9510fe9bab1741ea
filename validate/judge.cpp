// SPDX-License-Identifier: Apache-2.0
#include "validate/judge.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <thread>

#include "validate/compare.hpp"
#include "validate/memory.hpp"
#include "validate/pattern.hpp"
#include "validate/pool.hpp"
#include "validate/prepare.hpp"
#include "validate/tiers.hpp"

namespace assay {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One kernel's worker and its place in the queue of prepared tasks.
struct Lane {
  const Kernel* kernel;
  std::unique_ptr<WorkerProcess> worker;
  std::size_t last_task = 0;  // that has this kernel
  std::deque<std::shared_ptr<Prepared>> queue;
  std::shared_ptr<Prepared> running;
  SharedMemory outputs;
  Clock::time_point deadline{};
};

// What came back for one record and waits to be judged.
struct Result {
  std::shared_ptr<Prepared> of;
  const Kernel* kernel;
  SharedMemory outputs;
  Verdict verdict = Verdict::passed;  // passed: to be judged by its outputs
  Reply reply;
};

Record blank_record(const Task& task, const Kernel& kernel, const JudgeOptions& options) {
  Record r;
  r.kernel = kernel.name;
  r.backend = options.backend;
  r.c = task.c;
  r.multi_tile_ragged = multi_tile_ragged(kernel, task.c);
  r.repro = repro(task.c, task.op->shape(), kernel.name);
  return r;
}

std::vector<std::int64_t> decoded(const Tensor& t, std::int64_t linear) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(t.rank));
  for (int a = t.rank - 1; a >= 0; --a) {
    index[static_cast<std::size_t>(a)] = linear % t.shape[a];
    linear /= t.shape[a];
  }
  return index;
}

// What only a machine that watches every access finds, by the kind that its findings begin with.
bool found_by_watch(std::string_view reason) {
  constexpr std::string_view kKinds[] = {"shared_race:", "global_race:", "uninitialised:", "unwritten:", "plain_access:"};
  return std::any_of(std::begin(kKinds), std::end(kKinds), [&](std::string_view kind) { return reason.starts_with(kind); });
}

// What the rules in practice want to know of the first run.
void ask_policies(const Result& result, Record& r) {
  const Prepared& p = *result.of;
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    if (p.task->op->tensors[i].role != Role::output) continue;
    Tensor got = p.packing.placements[i].tensor;
    got.data = result.outputs.data() + p.packing.at[i];
    r.policy_figures.push_back(policy_figures(*p.problem, static_cast<int>(r.policy_figures.size()), got));
  }
}

// Judges the outputs of both runs; fills in the verdict and its reason.
void judge_outputs(const Result& result, Record& r) {
  const Prepared& p = *result.of;
  const auto fail = [&](Tier tier, std::string reason) {
    r.caught(tier);
    if (r.verdict == Verdict::passed) r.verdict = Verdict::failed, r.reason = std::move(reason);
  };
  const auto is_output = [](const TensorSpec& t) { return t.role == Role::output; };
  const auto outputs = std::count_if(p.task->op->tensors.begin(), p.task->op->tensors.end(), is_output);
  bool powerless = true, zeros = true;
  int output = 0;
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    const TensorSpec& spec = p.task->op->tensors[i];
    if (!is_output(spec)) continue;
    Tensor runs[kRuns];
    for (int k = 0; k < kRuns; ++k) {
      runs[k] = p.packing.placements[i].tensor;
      runs[k].data = result.outputs.data() + static_cast<std::size_t>(k) * p.packing.output_bytes + p.packing.at[i];
    }
    const Comparison c = compare(*p.problem, result.kernel->numerics, output, runs[0], p.exact);
    const Frame frame = frame_of(spec, *result.kernel, p.task->c.dtype);
    r.compared += c.compared, r.wrong += c.wrong;
    powerless = powerless && c.powerless, zeros = zeros && c.zeros;
    if (c.worst >= 0 && (!r.margin || c.margin > *r.margin)) {
      r.margin = c.margin;
      r.worst = Record::Worst{std::string(spec.name), decoded(runs[0], c.worst), c.got, c.golden, c.bound};
      if (c.wrong) r.worst->tile = tile_text(frame, p.task->c.dims, r.worst->index);
    }
    if (c.wrong) {
      const Pattern found = pattern(*p.problem, result.kernel->numerics, output, runs[0], p.exact, frame);
      r.pattern += (r.pattern.empty() ? "" : "; ") + (outputs > 1 ? std::string(spec.name) + ": " : "") + found.text;
      if (r.reads_like.empty()) r.reads_like = found.reads_like;
      fail(p.exact ? Tier::T0 : Tier::T1,
           p.exact ? "differs where the answer is exactly representable" : fmt::format("err/bound = {:.3g}", c.margin));
    }
    if (output == 0 && c.wrong == 0)
      if (std::string why = judge_together(*result.of, result.kernel->numerics, runs[0], r); !why.empty())
        fail(Tier::T2, std::move(why));
    r.digest = digest(runs[0], r.digest.value_or(0));
    if (output == 0 && !p.problem->rows().all() && p.task->op->hooks.sweep) {
      r.sweep_margin =
          p.task->op->hooks.sweep(p.problem->args(), result.kernel->numerics, p.problem->errors(), runs[0], p.task->c.seed);
      if (!(*r.sweep_margin <= 1))
        fail(Tier::T1, fmt::format("rows that were not sampled: err/bound = {:.3g} in a check of all", *r.sweep_margin));
    }
    const bool same = same_elements(runs[0], runs[1]);
    r.deterministic = r.deterministic.value_or(true) && same;
    if (!same && result.kernel->deterministic)
      fail(Tier::T4,
           fmt::format("two runs of '{}' differ: it depends on what the buffer held, or on the order of threads", spec.name));
    if (!same && compare(*p.problem, result.kernel->numerics, output, runs[1], p.exact).wrong)
      fail(Tier::T1, fmt::format("'{}' is out of bounds in the second run", spec.name));
    const bool in_place = lies_over(*p.task->op, p.task->c, i).has_value();
    for (int k = 0; k < kRuns; ++k)
      if (!gaps_intact(runs[k], p.packing.placements[i].bytes, in_place || is_given(spec) ? kGapByte : kGarbage[k]))
        fail(Tier::T4, fmt::format("wrote between the rows of '{}'", spec.name));
    ++output;
  }
  if (r.verdict != Verdict::passed) return;
  if (std::string why = judge_relations(p, *result.kernel, result.outputs.data(), result.reply.related, r); !why.empty())
    return fail(Tier::T3, std::move(why));
  if (r.compared == 0) {
    r.reason = "empty: nothing may be written, and nothing was";
  } else if (powerless && zeros && p.task->c.source.find('/') == std::string::npos) {
    // Note: a case of a dataset, "edges/common", is to be replaced; nobody chose the shape and the numbers of a random one.
    r.reason = "by chance every right value is a zero";
  } else if (powerless) {
    r.verdict = Verdict::suspect, r.reason = "proves nothing: an output of zeros would pass";
    r.caught(Tier::T2);
  }
}

class Run {
 public:
  Run(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record)
      : tasks_(tasks), options_(options), on_record_(on_record) {
    for (const Task& t : tasks)
      for (const Kernel* k : t.kernels) {
        if (std::none_of(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return l.kernel == k; }))
          lanes_.push_back({.kernel = k});
        lane_of(*k).last_task = static_cast<std::size_t>(&t - tasks.data());
        ++records_total_;
      }
    records_.resize(records_total_);
    jobs_ = options.jobs > 0 ? options.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }

  Tally go() {
    while (!finished()) {
      if (options_.stop && *options_.stop) {
        tally_.interrupted = true;
        break;
      }
      prepare_ahead();
      dispatch();
      if (!results_.empty()) {
        settle(results_.front());
        results_.pop_front();
      }
      wait(results_.empty() ? 200 : 0);
      if (options_.fail_fast && tally_.bad()) break;
    }
    for (Lane& lane : lanes_) lane.worker.reset();
    tally_.seconds = seconds_since(start_);
    return tally_;
  }

 private:
  static constexpr std::size_t kAhead = 4;  // tasks prepared and not yet finished
  static constexpr const char* kEnough = "judged enough";

  bool out_of_budget() const { return options_.budget_s > 0 && seconds_since(start_) > options_.budget_s; }
  bool finished() const { return emitted_ == records_total_; }

  // Whether one more task may be prepared, by their number and by their memory.
  bool room_for(const Task& task) const {
    double bytes = memory_of(*task.op, task.c);
    for (const auto& p : live_)
      if (const auto task_alive = p.lock()) bytes += task_alive->bytes;
    return live_.empty() || (live_.size() < kAhead && bytes <= static_cast<double>(memory_));
  }

  void prepare_ahead() {
    while (next_task_ < tasks_.size()) {
      std::erase_if(live_, [](const auto& p) { return p.expired(); });
      const Task& task = tasks_[next_task_];
      const std::string why_not = out_of_budget() ? fmt::format("the budget of {} s was spent", options_.budget_s)
                                  : options_.wanted && !options_.wanted(task) ? "not wanted any more"
                                  : enough(task)                              ? kEnough
                                                                              : too_large(*task.op, task.c, memory_);
      if (why_not.empty() && !room_for(task)) return;
      ++next_task_;
      const std::size_t first = next_record_;
      next_record_ += task.kernels.size();
      if (!why_not.empty()) {
        for (std::size_t k = 0; k < task.kernels.size(); ++k) emit(first + k, skipped(task, *task.kernels[k], why_not));
        continue;
      }
      const auto p = prepare(task, first);
      p->relations = relations_of(*task.op, task.c, options_.relations);
      if (options_.power) options_.power->look(*p);
      live_.push_back(p);
      for (const Kernel* k : task.kernels) lane_of(*k).queue.push_back(p);
      return;  // look at the workers between two goldens
    }
  }

  void dispatch() {
    for (Lane& lane : lanes_) {
      while (!lane.queue.empty() && enough(lane)) {
        const Prepared& p = *lane.queue.front();
        emit(record_number(p, *lane.kernel), skipped(*p.task, *lane.kernel, kEnough));
        lane.queue.pop_front();
      }
      // Note: a worker that waits for nothing still holds a GPU context, half a gigabyte of its memory.
      if (!lane.running && lane.queue.empty() && next_task_ > lane.last_task) lane.worker.reset();
      if (lane.running || lane.queue.empty() || running() >= jobs_) continue;
      lane.running = lane.queue.front();
      lane.queue.pop_front();
      lane.outputs = SharedMemory((kRuns + lane.running->relations.size()) * lane.running->packing.output_bytes);
      if (!lane.worker) lane.worker = std::make_unique<WorkerProcess>(options_.backend);
      lane.deadline =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.timeout_s));
      lane.worker->send({.id = static_cast<std::int64_t>(lane.running->first_record),
                         .kernel = std::string(lane.kernel->name),
                         .c = lane.running->task->c,
                         .sectors = options_.sectors,
                         .relations = lane.running->relations,
                         .watch = options_.watch},
                        lane.running->inputs, lane.outputs);
    }
    std::rotate(lanes_.begin(), lanes_.begin() + (lanes_.empty() ? 0 : 1), lanes_.end());  // no lane is favoured for ever
  }

  bool enough(const Lane& lane) const { return options_.enough && options_.enough(*lane.kernel); }
  bool enough(const Task& task) const {
    return options_.enough &&
           std::all_of(task.kernels.begin(), task.kernels.end(), [&](const Kernel* k) { return options_.enough(*k); });
  }

  static std::size_t record_number(const Prepared& p, const Kernel& k) {
    const auto& all = p.task->kernels;
    return p.first_record + static_cast<std::size_t>(std::find(all.begin(), all.end(), &k) - all.begin());
  }

  int running() const {
    return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.running != nullptr; }));
  }

  // Takes in what the workers have to say.
  void wait(int milliseconds) {
    std::vector<pollfd> polled;
    std::vector<Lane*> who;
    for (Lane& lane : lanes_)
      if (lane.running) polled.push_back({lane.worker->socket(), POLLIN, 0}), who.push_back(&lane);
    if (polled.empty()) return;
    ::poll(polled.data(), polled.size(), milliseconds);
    for (std::size_t i = 0; i < polled.size(); ++i) {
      Lane& lane = *who[i];
      if (polled[i].revents) {
        std::optional<Reply> reply = lane.worker->receive();
        if (reply && reply->id != static_cast<std::int64_t>(lane.running->first_record))
          take(lane, Verdict::crashed, {.message = "the worker answered another order than its last", .tainted = true});
        else if (reply) take(lane, verdict_of(*reply), std::move(*reply));
        else take(lane, Verdict::crashed, {.message = lane.worker->cause_of_death(), .tainted = true});
      } else if (Clock::now() > lane.deadline) {
        take(lane, Verdict::timeout, {.message = fmt::format("no answer within {} s", options_.timeout_s), .tainted = true});
      }
    }
  }

  static Verdict verdict_of(const Reply& reply) {
    switch (reply.status) {
      case Reply::Status::done: return Verdict::passed;
      case Reply::Status::unsupported: return Verdict::unsupported;
      case Reply::Status::skipped: return Verdict::skipped;
      case Reply::Status::failed: break;
    }
    return Verdict::failed;
  }

  // A worker that did not end well is not trusted again.
  void take(Lane& lane, Verdict verdict, Reply reply) {
    if (reply.tainted) lane.worker.reset();
    results_.push_back({std::move(lane.running), lane.kernel, std::move(lane.outputs), verdict, std::move(reply)});
    lane.running = nullptr;
    lane.outputs = {};
  }

  void settle(const Result& result) {
    const Task& task = *result.of->task;
    Record r = blank_record(task, *result.kernel, options_);
    r.exact = result.of->exact;
    r.verdict = result.verdict;
    r.reason = result.reply.message;
    r.seconds = result.reply.seconds;
    r.traffic = result.reply.traffic;
    r.sites = result.reply.sites;
    r.cost = result.of->problem->cost();
    r.rows_checked = result.of->problem->rows().sample;
    r.rows = result.of->problem->rows().total;
    if (is_bad(r.verdict)) r.caught(found_by_watch(r.reason) ? Tier::watch : Tier::T4);
    r.call_failed = result.reply.tainted || r.reason.starts_with("bad_launch");
    if (options_.policies && (r.verdict == Verdict::passed || result.reply.outputs)) ask_policies(result, r);
    if (r.verdict == Verdict::passed) judge_outputs(result, r);
    emit(record_number(*result.of, *result.kernel), std::move(r));
  }

  Record skipped(const Task& task, const Kernel& kernel, std::string why) const {
    Record r = blank_record(task, kernel, options_);
    r.verdict = Verdict::skipped;
    r.reason = std::move(why);
    return r;
  }

  void emit(std::size_t number, Record r) {
    records_[number] = std::make_unique<Record>(std::move(r));
    for (; emitted_ < records_total_ && records_[emitted_]; ++emitted_) {
      tally_.add(*records_[emitted_]);
      tally_.seconds = seconds_since(start_);
      on_record_(*records_[emitted_]);
      records_[emitted_].reset();
    }
  }

  Lane& lane_of(const Kernel& k) {
    return *std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return l.kernel == &k; });
  }

  std::span<const Task> tasks_;
  const JudgeOptions& options_;
  const std::function<void(const Record&)>& on_record_;
  int jobs_ = 1;
  std::size_t memory_ = available_memory();
  std::vector<Lane> lanes_;
  std::vector<std::weak_ptr<Prepared>> live_;
  std::deque<Result> results_;
  std::vector<std::unique_ptr<Record>> records_;
  std::size_t records_total_ = 0, next_task_ = 0, next_record_ = 0, emitted_ = 0;
  Tally tally_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

Tally judge(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record) {
  return Run(tasks, options, on_record).go();
}

}  // namespace assay
