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
#include "validate/pool.hpp"
#include "validate/prepare.hpp"

namespace assay {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One kernel's worker and its place in the queue of prepared tasks.
struct Lane {
  const Kernel* kernel;
  std::unique_ptr<WorkerProcess> worker;
  std::deque<std::shared_ptr<Prepared>> queue;
  std::shared_ptr<Prepared> running;
  SharedMemory outputs;
  Clock::time_point deadline{};
  std::int64_t bad = 0;  // verdicts so far
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

// Judges the outputs of both runs; fills in the verdict and its reason.
void judge_outputs(const Result& result, Record& r) {
  const Prepared& p = *result.of;
  const auto fail = [&](std::string reason) {
    if (r.verdict == Verdict::passed) r.verdict = Verdict::failed, r.reason = std::move(reason);
  };
  bool powerless = true, zeros = true;
  int output = 0;
  for (std::size_t i = 0; i < p.task->op->tensors.size(); ++i) {
    const TensorSpec& spec = p.task->op->tensors[i];
    if (spec.role != Role::output) continue;
    Tensor runs[kRuns];
    for (int k = 0; k < kRuns; ++k) {
      runs[k] = p.packing.placements[i].tensor;
      runs[k].data = result.outputs.data() + static_cast<std::size_t>(k) * p.packing.output_bytes + p.packing.at[i];
    }
    const Comparison c = compare(*p.problem, result.kernel->numerics, output, runs[0], p.exact);
    r.compared += c.compared, r.wrong += c.wrong;
    powerless = powerless && c.powerless, zeros = zeros && c.zeros;
    if (c.worst >= 0 && (!r.margin || c.margin > *r.margin)) {
      r.margin = c.margin;
      r.worst = Record::Worst{std::string(spec.name), decoded(runs[0], c.worst), c.got, c.golden, c.bound};
    }
    if (c.wrong) {
      r.pattern = pattern(*p.problem, result.kernel->numerics, output, runs[0], p.exact, spec.axes);
      fail(p.exact ? "differs where the answer is exactly representable" : fmt::format("err/bound = {:.3g}", c.margin));
    }
    r.digest = digest(runs[0], r.digest.value_or(0));
    if (output == 0 && !p.problem->rows().all() && p.task->op->hooks.sweep) {
      r.sweep_margin =
          p.task->op->hooks.sweep(p.problem->args(), result.kernel->numerics, p.problem->errors(), runs[0], p.task->c.seed);
      if (!(*r.sweep_margin <= 1))
        fail(fmt::format("rows that were not sampled: err/bound = {:.3g} in a check of all", *r.sweep_margin));
    }
    const bool same = same_elements(runs[0], runs[1]);
    r.deterministic = r.deterministic.value_or(true) && same;
    if (!same && result.kernel->deterministic)
      fail(fmt::format("two runs of '{}' differ: it depends on what the buffer held, or on the order of threads", spec.name));
    if (!same && compare(*p.problem, result.kernel->numerics, output, runs[1], p.exact).wrong)
      fail(fmt::format("'{}' is out of bounds in the second run", spec.name));
    for (int k = 0; k < kRuns; ++k)
      if (!gaps_intact(runs[k], p.packing.placements[i].bytes, spec.options.updated ? kGapByte : kGarbage[k]))
        fail(fmt::format("wrote between the rows of '{}'", spec.name));
    ++output;
  }
  if (r.verdict != Verdict::passed) return;
  if (r.compared == 0) r.reason = "empty: nothing may be written, and nothing was";
  // Note: a case of a dataset, "edges/common", is to be replaced; nobody chose the shape and the numbers of a random one.
  else if (powerless && zeros && p.task->c.source.find('/') == std::string::npos)
    r.reason = "by chance every right value is a zero";
  else if (powerless) r.verdict = Verdict::suspect, r.reason = "proves nothing: an output of zeros would pass";
}

class Run {
 public:
  Run(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record)
      : tasks_(tasks), options_(options), on_record_(on_record) {
    for (const Task& t : tasks)
      for (const Kernel* k : t.kernels) {
        if (std::none_of(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return l.kernel == k; }))
          lanes_.push_back({.kernel = k});
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
      const std::string why_not =
          out_of_budget() ? fmt::format("the budget of {} s was spent", options_.budget_s) : too_large(*task.op, task.c, memory_);
      if (why_not.empty() && !room_for(task)) return;
      ++next_task_;
      const std::size_t first = next_record_;
      next_record_ += task.kernels.size();
      if (!why_not.empty()) {
        for (std::size_t k = 0; k < task.kernels.size(); ++k) emit(first + k, skipped(task, *task.kernels[k], why_not));
        continue;
      }
      const auto p = prepare(task, first);
      live_.push_back(p);
      for (const Kernel* k : task.kernels) lane_of(*k).queue.push_back(p);
      return;  // look at the workers between two goldens
    }
  }

  void dispatch() {
    for (Lane& lane : lanes_) {
      while (options_.enough_bad > 0 && lane.bad >= options_.enough_bad && !lane.queue.empty()) {
        const Prepared& p = *lane.queue.front();
        emit(record_number(p, *lane.kernel),
             skipped(*p.task, *lane.kernel, fmt::format("{} bad verdicts were enough", lane.bad)));
        lane.queue.pop_front();
      }
      if (lane.running || lane.queue.empty() || running() >= jobs_) continue;
      lane.running = lane.queue.front();
      lane.queue.pop_front();
      lane.outputs = SharedMemory(kRuns * lane.running->packing.output_bytes);
      if (!lane.worker) lane.worker = std::make_unique<WorkerProcess>(options_.backend);
      lane.deadline =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.timeout_s));
      lane.worker->send({.id = static_cast<std::int64_t>(lane.running->first_record),
                         .kernel = std::string(lane.kernel->name),
                         .c = lane.running->task->c,
                         .sectors = options_.sectors},
                        lane.running->inputs, lane.outputs);
    }
    std::rotate(lanes_.begin(), lanes_.begin() + (lanes_.empty() ? 0 : 1), lanes_.end());  // no lane is favoured for ever
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
    r.cost = result.of->problem->cost();
    r.rows_checked = result.of->problem->rows().sample;
    r.rows = result.of->problem->rows().total;
    if (r.verdict == Verdict::passed) judge_outputs(result, r);
    if (is_bad(r.verdict)) ++lane_of(*result.kernel).bad;
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
