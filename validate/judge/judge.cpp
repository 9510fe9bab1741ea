// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/base/thread_pool.hpp"
#include "validate/base/used.hpp"
#include "validate/judge/judge_result.hpp"
#include "validate/judge/kernel_queue.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/prepare.hpp"
#include "validate/tasks/memory.hpp"

namespace assay {

namespace {

// The calling thread talks to the workers and emits the records; a pool of threads makes goldens and judges outputs.
class Run {
 public:
  Run(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record)
      : tasks_(tasks), options_(options), on_record_(on_record) {
    for (const Task& t : tasks)
      for (const Kernel* k : t.kernels) {
        auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const KernelQueue& q) { return q.kernel == k; });
        if (queue == queues_.end()) queue = queues_.insert(queue, KernelQueue{.kernel = k});
        queue->last_task = static_cast<std::size_t>(&t - tasks.data());
        of_record_.emplace_back(&t, k);
        ++records_total_;
      }
    records_.resize(records_total_);
    fault_ = machine_fault(cores(), kLeastFiles + kOtherFiles);
    if (!fault_.empty()) fault_.insert(0, kMachine);
  }

  // Returns early on a signal.  See left() then.
  Tally go() {
    while (!finished()) {
      if (options_.stop && *options_.stop) {
        tally_.interrupted = true;
        break;
      }
      collect();
      give_up();
      prepare_ahead();
      if (out_of_budget()) cut();
      else dispatch();
      wait(200);
      if (failed_fast()) break;
    }
    for (KernelQueue& queue : queues_) queue.worker.reset();
    left_ = pool_.leave();
    if (options_.power && finished())
      options_.power->settle([&] { return out_of_budget() || (options_.stop && *options_.stop); });
    tally_.seconds = running_.seconds();
    tally_.work.goldens = 1e-9 * static_cast<double>(goldens_ns_);
    tally_.work.judging = 1e-9 * static_cast<double>(judging_ns_);
    return tally_;
  }

  // Whether jobs still run that use this run, since they took too long to be waited for.
  bool left() const { return left_; }

 private:
  // Posts a job and adds its time to `ns`.
  template <class Job>
  auto timed(std::atomic<std::int64_t>& ns, Job job) {
    return pool_.post([&ns, job = std::move(job)]() mutable {
      const Stopwatch at_work;
      auto made = job();
      ns += static_cast<std::int64_t>(at_work.seconds() * 1e9);
      return made;
    });
  }

  static constexpr const char* kEnough = "judged enough";

  double budget_left() const { return options_.budget_s - options_.spent_s - running_.seconds(); }
  bool out_of_budget() const { return options_.budget_s > 0 && budget_left() <= 0; }
  std::string over_budget() const { return fmt::format("the budget of {} s was spent", options_.budget_s); }
  // How long a worker that has closed its socket may take to end.
  double patience() const {
    const double patience_s = std::min(10.0, options_.timeout_s);
    return options_.budget_s > 0 ? std::clamp(budget_left(), 0.1, patience_s) : patience_s;
  }
  bool finished() const { return emitted_ == records_total_; }
  bool failed_fast() const { return options_.fail_fast && tally_.bad(); }

  void prepare_ahead() {
    while (next_task_ < tasks_.size()) {
      const Task& task = tasks_[next_task_];
      const bool unwanted = (options_.wanted && !options_.wanted(task)) || enough(task);
      std::string why_not = unwanted ? kEnough : !fault_.empty() ? fault_ : out_of_budget() ? over_budget() : "";
      if (why_not.empty()) {
        if (!needs_) needs_ = memory_of(task, options_);
        why_not = too_large(task, needs_->peak(), available_);
        const bool room = places_.untouched() || (places_.has(1) && memory_.has(needs_->peak()) && files_.has(1 + kFilesOfOne));
        if (why_not.empty() && !room) return;
      }
      ++next_task_;
      const std::size_t first = std::exchange(next_record_, next_record_ + task.kernels.size());
      if (why_not.empty()) make(task, first, *needs_);
      else skip(task, first, why_not, !unwanted);
      needs_.reset();
    }
  }
  void make(const Task& task, std::size_t first, const TaskMemory& needs) {
    const auto state = std::make_shared<Making::State>();
    auto job = [own = std::make_shared<const Task>(task), first, state, needs, memory = memory_.take(needs.peak()),
                place = places_.take(1), file = files_.take(1), this]() mutable {
      state->began = std::max(1e-9, running_.seconds());
      std::shared_ptr<Prepared> p = state->given_up ? nullptr : prepare(*own, first, replays_);
      if (!p) return p;
      p->owner = own;
      p->needs = needs;
      p->memory = std::move(memory);
      p->place = std::move(place);
      p->file = std::move(file);
      return p;
    };
    making_.push_back({&task, first, state, timed(goldens_ns_, std::move(job))});
  }
  void skip(const Task& task, std::size_t first, const std::string& why, bool incomplete) {
    for (std::size_t k = 0; k < task.kernels.size(); ++k)
      emit(first + k, skipped(task, *task.kernels[k], options_, why, incomplete));
  }

  // Skips tasks whose inputs and golden take longer than a kernel may, or than the budget is.  Their jobs go on unheeded, in
  // threads that the pool no longer counts on.
  void give_up() {
    for (Making& m : making_) {
      const double began = m.state->began;
      if (m.made || m.given_up() || ready(m.prepared)) continue;
      const bool late = began > 0 && running_.seconds() - began > options_.timeout_s;
      if (!late && !out_of_budget()) continue;
      m.state->given_up = true;
      if (began > 0) pool_.add_thread();
      skip(*m.task, m.first_record,
           late ? fmt::format("its inputs and golden take longer than {} s", options_.timeout_s) : over_budget(), true);
    }
  }

  // Skips all that has no verdict once the budget is spent.  What is under way is ended, or goes on unheeded.
  void cut() {
    constexpr double kMostJudging = 2;  // seconds for outputs that are being judged
    for (KernelQueue& queue : queues_) {
      if (queue.running) queue.tasks.push_front(queue.running);
      for (const std::shared_ptr<Prepared>& p : queue.tasks)
        emit(record_number(*p, *queue.kernel), skipped(*p->task, *queue.kernel, options_, over_budget(), true));
      queue.tasks.clear();
      queue.end_worker();
      queue.order = 0;
      if (queue.making.valid() && !ready(queue.making)) unheeded_outputs_.push_back(std::move(queue.outputs));
      queue.making = {};
      queue.memory = {};
      queue.clear();
    }
    if (budget_left() > -kMostJudging) return;
    for (Judging& j : judging_) {
      emit(j.number, skipped(*j.of->task, *j.kernel, options_, over_budget(), true));
      pool_.add_thread();
      unheeded_.push_back(std::move(j));
    }
    judging_.clear();
  }

  template <class Work>
  void go(KernelQueue& queue, Work work) {
    or_machine(work, [&](const std::string& why) {
      queue.end_worker();
      queue.order = 0;
      finish(queue, Verdict::skipped, {.message = why, .tainted = true});
    });
  }

  // Collects what the pool has finished, in any order unless asked for the tasks'.  Power always sees tasks in order, since its
  // result depends on it.
  void collect() {
    for (Making& m : making_) {
      if (m.made || m.given_up()) continue;
      if (!ready(m.prepared) && options_.in_order) break;
      if (!ready(m.prepared)) continue;
      or_machine([&] { m.made = m.prepared.get(); },
                 [&](const std::string& why) {
                   m.state->given_up = true;
                   skip(*m.task, m.first_record, why, true);
                 });
      if (!m.made) continue;
      m.made->relations = relations_of(*m.task->op, m.task->c, options_.relations);
      for (const Kernel* k : m.task->kernels) queue_of(*k).tasks.push_back(m.made);
    }
    for (; !making_.empty() && (making_.front().made || making_.front().given_up()); making_.pop_front()) {
      if (making_.front().given_up()) continue;
      const Stopwatch at_work;
      const Prepared& p = *making_.front().made;
      if (options_.power && !out_of_budget())
        for (auto& [kernel, tried] : options_.power->look(p, [this] { return out_of_budget(); }))
          faults_[record_number(p, *kernel)] = std::move(tried);
      tally_.work.power += at_work.seconds();
    }
    for (KernelQueue& queue : queues_)
      if (queue.making.valid() && ready(queue.making)) go(queue, [&] { order_related(queue, queue.making.get()); });
    for (std::size_t i = 0; i < judging_.size();) {
      if (!ready(judging_[i].record)) {
        ++i;
        continue;
      }
      Judging& j = judging_[i];
      std::optional<Record> r;
      or_machine([&] { r = j.record.get(); },
                 [&](const std::string& why) { r = skipped(*j.of->task, *j.kernel, options_, why, true); });
      emit(j.number, std::move(*r));  // Note: not above, since what fails after it is written is another record's affair
      judging_.erase(judging_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void dispatch() {
    for (KernelQueue& queue : queues_) {
      while (!queue.tasks.empty() && enough(*queue.kernel)) {
        const Prepared& p = *queue.tasks.front();
        emit(record_number(p, *queue.kernel), skipped(*p.task, *queue.kernel, options_, kEnough));
        queue.tasks.pop_front();
      }
      // Note: an idle worker still holds a GPU context, half a gigabyte of device memory.
      if (!queue.running && queue.tasks.empty() && made() > queue.last_task) queue.end_worker();
      if (queue.running || queue.tasks.empty() || running() >= jobs_ || !room_for(queue)) continue;
      if (const Prepared& p = *queue.tasks.front(); !unused(p, queues_, judging_)) queue.memory = memory_.take(p.needs.kernel);
      queue.running = queue.tasks.front();
      queue.tasks.pop_front();
      go(queue, [&] { start(queue); });
    }
    // So that no queue always comes first.
    std::rotate(queues_.begin(), queues_.begin() + (queues_.empty() ? 0 : 1), queues_.end());
  }

  // Whether a case's tensors, with the gaps between rows, take much of a GPU's memory.  Two such cases beside each other may have
  // no room where each alone has.
  bool large_on_gpu(const Prepared& p) const {
    constexpr double kMuch = 0x1p30;
    double bytes = 0;
    for (const Placement& place : p.packing.placements) bytes += static_cast<double>(place.bytes);
    return options_.backend == "cuda" && bytes > kMuch;
  }
  // Whether one more kernel may run now.  The only one may.
  bool room_for(const KernelQueue& queue) {
    if (!queue.worker && !files_.has(kFilesOfOne))
      for (KernelQueue& other : queues_)
        if (!other.running) other.end_worker();
    const Prepared& p = *queue.tasks.front();
    if (large_on_gpu(p) &&
        std::any_of(queues_.begin(), queues_.end(), [&](const KernelQueue& q) { return q.running && large_on_gpu(*q.running); }))
      return false;
    return (running() == 0 || files_.has(kFilesOfOne)) && (unused(p, queues_, judging_) || memory_.has(p.needs.kernel));
  }
  void start(KernelQueue& queue) {
    const Prepared& p = *queue.running;
    if (queue.kernel->finite_inputs && !p.finite)
      return finish(queue, Verdict::unsupported, {.message = "declares finite inputs"});
    if (!queue.kernel->loaded) note_used(queue.kernel->op);
    queue.files = files_.take(2);  // outputs, or inputs and outputs of a related problem
    Order order = order_of(*p.task->op, p.task->c, p.packing, queue.kernel->name);
    order.input_sets = p.input_sets;
    order.runs = runs_of(*queue.kernel, p, options_);
    queue.outputs = SharedMemory(order.runs.size() * p.packing.output_bytes);
    if (!queue.worker) {
      queue.worker = std::make_unique<WorkerProcess>(command_of(*queue.kernel));
      queue.workers_file = files_.take(kFilesOfWorker);
    }
    queue.send(++last_order_, std::move(order), p.inputs, queue.outputs);
  }

  std::vector<std::string> command_of(const Kernel& k) const {
    return k.loaded ? k.loaded->command : own_worker(options_.backend);
  }

  // Has the pool make the next related problem, or finishes the queue's task if all its relations have been tried.
  void go_on(KernelQueue& queue) {
    if (queue.next_relation == queue.running->relations.size()) return finish(queue, Verdict::passed, std::move(queue.reply));
    queue.making = timed(goldens_ns_, queue.making_related());
  }
  void order_related(KernelQueue& queue, std::optional<Related> related) {
    const Op& op = *queue.running->task->op;
    if (!related) {
      ++queue.next_relation;
      return go_on(queue);
    }
    queue.send(++last_order_, queue.related_order(op, *related), queue.related_inputs, queue.related_outputs);
  }

  // The tasks before this index are in their queues or will not be run.
  std::size_t made() const {
    for (const Making& m : making_)
      if (!m.made && !m.given_up()) return static_cast<std::size_t>(m.task - tasks_.data());
    return next_task_;
  }

  bool enough(const Kernel& k) const { return options_.enough && options_.enough(k); }
  bool enough(const Task& task) const {
    return options_.enough &&
           std::all_of(task.kernels.begin(), task.kernels.end(), [&](const Kernel* k) { return options_.enough(*k); });
  }

  int running() const {
    return static_cast<int>(std::count_if(queues_.begin(), queues_.end(), [](const KernelQueue& q) { return q.running; }));
  }

  // Waits for replies and takes them in.  Also returns if the pool has finished a job.
  void wait(int milliseconds) {
    if (finished()) return;
    std::vector<pollfd> polled;
    // Seconds since each order was sent, taken before poll(): taking in replies does not count as a worker's time.
    std::vector<std::pair<KernelQueue*, double>> waiting;
    for (KernelQueue& queue : queues_)
      if (queue.order) {
        polled.push_back({queue.worker->socket(), POLLIN, 0});
        waiting.push_back({&queue, queue.sent.seconds()});
      }
    polled.push_back({pool_.ended(), POLLIN, 0});
    ::poll(polled.data(), polled.size(), milliseconds);
    if (polled.back().revents) pool_.forget_ended();
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      KernelQueue& queue = *waiting[i].first;
      if (polled[i].revents) {
        auto [verdict, reply] = queue.receive(patience());
        take(queue, verdict, std::move(reply));
      } else if (queue.late(waiting[i].second, options_.timeout_s, options_.backend == "cuda")) {
        take(queue, Verdict::timeout, {.message = fmt::format("no answer within {} s", options_.timeout_s), .tainted = true});
      }
    }
  }

  // Takes in a reply, or one that stands for a crash or a timeout.  A tainted worker is replaced.
  void take(KernelQueue& queue, Verdict verdict, Reply reply) {
    tally_.work.workers += queue.sent.seconds();
    queue.order = 0;
    if (reply.tainted) queue.end_worker();
    (queue.on_related ? queue.related_outputs : queue.outputs).close_descriptor();
    if (!queue.on_related) {
      if (verdict != Verdict::passed) return finish(queue, verdict, std::move(reply));
      queue.reply = std::move(reply);
      return go_on(queue);
    }
    if (verdict == Verdict::passed) queue.related.push_back({queue.relation(), std::move(queue.related_outputs)});
    else if (verdict != Verdict::unsupported) return finish(queue, verdict, std::move(reply));  // unsupported: does not apply
    ++queue.next_relation;
    go_on(queue);
  }

  void finish(KernelQueue& queue, Verdict verdict, Reply reply) {
    const std::size_t number = record_number(*queue.running, *queue.kernel);
    WorkerResult result{std::move(queue.running), queue.kernel, std::move(queue.outputs),
                        std::move(queue.related), verdict,      std::move(reply)};
    std::shared_ptr<Prepared> of = result.of;
    judging_.push_back({number, queue.kernel, std::move(of), std::move(queue.memory),
                        timed(judging_ns_, [this, result = std::move(result)] { return judge_result(result, options_); })});
    queue.clear();
  }

  void emit(std::size_t number, Record r) {
    records_[number] = std::make_unique<Record>(std::move(r));
    for (; emitted_ < records_total_ && records_[emitted_] && !failed_fast(); ++emitted_) {
      // Note: power looked at this case before, since it looks at a case once all cases up to it are prepared.
      if (options_.power) tell_power(*records_[emitted_]);
      tally_.add(*records_[emitted_]);
      tally_.seconds = running_.seconds();
      on_record_(*records_[emitted_]);
      records_[emitted_].reset();
    }
  }

  // Tells power whether the kernel's output of a case was compared: what a kernel does not take shows nothing.
  void tell_power(Record& r) {
    const auto [task, kernel] = of_record_[emitted_];
    if (r.compared) options_.power->compared(*task, *kernel);
    const auto tried = faults_.extract(emitted_);
    if (!tried) return;
    if (r.compared) r.faults = std::move(tried.mapped());
    else options_.power->not_compared(task->c, *kernel, tried.mapped(), r.verdict == Verdict::unsupported && !r.incomplete);
  }

  KernelQueue& queue_of(const Kernel& k) {
    return *std::find_if(queues_.begin(), queues_.end(), [&](const KernelQueue& q) { return q.kernel == &k; });
  }

  std::span<const Task> tasks_;
  const JudgeOptions options_;  // Note: a copy, for jobs that outlive the caller
  const std::function<void(const Record&)>& on_record_;
  int jobs_ = options_.jobs > 0 ? options_.jobs : default_jobs(options_.backend);
  std::size_t available_ = available_memory();
  std::optional<TaskMemory> needs_;  // of the next task, once it is known
  std::string fault_;                // of the machine, for which every case is skipped; empty: none
  Room memory_{static_cast<double>(available_)}, files_{static_cast<double>(spare_descriptors()) - kOtherFiles};
  bool replays_ = options_.backend == "cuda";  // whether the backend can capture and replay launches
  std::int64_t last_order_ = 0;
  std::vector<KernelQueue> queues_;
  std::deque<Making> making_;
  std::vector<Judging> judging_;
  std::vector<Judging> unheeded_;  // that the budget has cut off
  std::vector<SharedMemory> unheeded_outputs_;
  std::vector<std::unique_ptr<Record>> records_;
  std::map<std::size_t, std::map<std::string, bool>> faults_;  // Record::faults, by the record's number
  std::vector<std::pair<const Task*, const Kernel*>> of_record_;
  std::size_t records_total_ = 0, next_task_ = 0, next_record_ = 0, emitted_ = 0;
  Tally tally_;
  bool left_ = false;
  std::atomic<std::int64_t> goldens_ns_ = 0, judging_ns_ = 0;
  Stopwatch running_;
  Room places_{4.0 * jobs_};      // for cases that are prepared or being so
  ThreadPool pool_{pool_size()};  // last: its jobs end before the members that they use
};

}  // namespace

Tally judge(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record) {
  auto run = std::make_unique<Run>(tasks, options, on_record);
  Tally tally = run->go();
  if (run->left()) [[maybe_unused]]
    const Run* never_freed = run.release();
  return tally;
}

}  // namespace assay
