// SPDX-License-Identifier: Apache-2.0
// What a run of the judge has under way: tasks being prepared, kernels with their workers, results being judged.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/judge/judge_result.hpp"
#include "validate/problem/relate.hpp"
#include "validate/tasks/room.hpp"
#include "validate/worker/process.hpp"

namespace assay {

inline int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }
inline int pool_size() { return std::clamp(cores(), 1, 8); }  // threads that make goldens and judge outputs

// How many workers run at a time, unless --jobs says it.  A worker of simt has one thread, which waits for the judge between
// orders.
inline int default_jobs(std::string_view backend) { return backend == "simt" ? 2 * cores() : cores(); }

// Open files that a run needs.
inline constexpr int kFilesOfWorker = 4;                // its socket, two for what it prints, one for what it asks
inline constexpr int kFilesOfOne = kFilesOfWorker + 2;  // and two memories that are sent to it
inline constexpr int kOtherFiles = 8;                   // the pool's, those that start a worker, reports at the end
inline constexpr int kLeastFiles = kFilesOfOne + 1;     // those of one case and one kernel

// A kernel, the prepared tasks that wait for it, and its worker, which no other kernel uses.
struct KernelQueue {
  const Kernel* kernel;
  std::size_t last_task = 0;  // index of the last task with this kernel
  std::deque<std::shared_ptr<Prepared>> tasks{};
  std::unique_ptr<WorkerProcess> worker{};
  Room::Share workers_file{};
  // The current task: first the case itself, then its related problems, each made after the reply to the one before.
  std::shared_ptr<Prepared> running{};
  Room::Share memory{}, files{};
  SharedMemory outputs{};
  Reply reply{};  // of the case itself
  std::vector<RelatedRun> related{};
  std::size_t next_relation = 0;  // index in running->relations
  bool on_related = false;        // the pending order is for a related problem
  std::future<std::optional<Related>> making{};
  SharedMemory related_inputs{}, related_outputs{};
  std::int64_t order = 0;    // id of the pending order; 0: none
  std::size_t runs = 0;      // that it asks for
  Stopwatch sent;            // started when the pending order was sent
  double waited_before = 0;  // WorkerProcess::waited_for_core_s() then
  const Relation* relation() const { return find_relation(*running->task->op, running->relations[next_relation]); }

  void send(std::int64_t id, Order text, const SharedMemory& from, const SharedMemory& to) {
    order = text.id = id;
    runs = text.runs.size();
    sent = {};
    waited_before = worker->waited_for_core_s();
    worker->send(text, from, to);
  }
  // Whether the pending order, sent so many seconds ago, has taken longer than a kernel may.  The time for which our own worker
  // had no core is the host's and not the kernel's, unless a GPU did the work; ten times the limit is the end in any case.
  bool late(double seconds, double timeout_s, bool on_gpu) const {
    constexpr double kLongest = 10;
    if (seconds <= timeout_s) return false;
    if (on_gpu || !is_own_worker(kernel->loaded ? kernel->loaded->command : std::vector<std::string>()) ||
        seconds > kLongest * timeout_s)
      return true;
    return seconds - (worker->waited_for_core_s() - waited_before) > timeout_s;
  }
  void end_worker() {
    worker.reset();
    workers_file = {};
  }
  // Ready for the next task.
  void clear() {
    running = nullptr;
    outputs = {};
    related.clear();
    files = {};
    related_inputs = {};
    related_outputs = {};
    next_relation = 0;
    on_related = false;
  }
  // The reply to the pending order, or one that stands for the end of the worker or for a reply that is none.
  std::pair<Verdict, Reply> receive(double patience_s) {
    const auto instead = [](std::string why) {
      const Verdict verdict = why.starts_with(kMachine) ? Verdict::skipped : Verdict::crashed;
      return std::pair(verdict, Reply{.message = std::move(why), .tainted = true});
    };
    std::optional<Reply> r = worker->receive();
    if (!r) return instead(worker->cause_of_death(patience_s));
    if (r->id != order) return instead("the worker answered another order than its last");
    if (r->status == Reply::Status::done && (r->ran > runs || r->ran < std::min<std::size_t>(runs, kRuns)))
      return instead(fmt::format("the worker says that it made {} of {} runs", r->ran, runs));
    return {verdict_of(*r), std::move(*r)};
  }
  // A job that makes the next related problem.  It gives none if the relation does not apply, or has a value that the kernel does
  // not take.
  auto making_related() const {
    return [of = running, r = relation(), of_outputs = outputs.data(), finite = kernel->finite_inputs] {
      const Op& op = *of->task->op;
      std::optional<Related> made = relate(op, of->task->c, *r, of->packing, of->inputs.data(), of_outputs);
      if (made && finite && !all_finite(op, pack(op, made->c), made->inputs.data())) made.reset();
      return made;
    };
  }
  // Makes the memories of a related problem, and the order.
  Order related_order(const Op& op, const Related& problem) {
    on_related = true;
    const Packing packing = pack(op, problem.c);
    related_inputs = SharedMemory(packing.input_bytes);
    related_outputs = SharedMemory(packing.output_bytes);
    std::copy(problem.inputs.begin(), problem.inputs.end(), related_inputs.data());
    Order made = order_of(op, problem.c, packing, kernel->name);
    made.runs = {{.garbage = kGarbage[0]}};
    return made;
  }
};

// The index of the kernel's record on this task.
inline std::size_t record_number(const Prepared& p, const Kernel& k) {
  const auto& all = p.task->kernels;
  return p.first_record + static_cast<std::size_t>(std::find(all.begin(), all.end(), &k) - all.begin());
}

// Does some work.  If the machine cannot, calls otherwise(reason).
template <class Work, class Otherwise>
void or_machine(Work work, Otherwise otherwise) {
  try {
    work();
  } catch (const BadInput&) {
    throw;
  } catch (const std::bad_alloc&) {
    otherwise(std::string(kMachine) + "memory ran out");
  } catch (const std::runtime_error& e) {
    otherwise(std::string(kMachine) + e.what());
  }
}

// Whether a job has ended.
template <class T>
bool ready(const std::future<T>& f) {
  return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// A task that is being prepared, or is prepared (`made`) but not yet looked at by power.
struct Making {
  const Task* task;
  std::size_t first_record;
  struct State {
    std::atomic<double> began = 0;  // seconds of the run; 0: not yet
    std::atomic<bool> given_up = false;
  };
  std::shared_ptr<State> state;  // with the job, which may outlive this object
  std::future<std::shared_ptr<Prepared>> prepared;
  std::shared_ptr<Prepared> made{};
  bool given_up() const { return state->given_up; }
};
struct Judging {
  std::size_t number;
  const Kernel* kernel;
  std::shared_ptr<Prepared> of;
  Room::Share memory;
  std::future<Record> record;
};

// Whether no kernel is being judged on the case.  Its own share of the memory has room for one.
inline bool unused(const Prepared& p, const std::vector<KernelQueue>& queues, const std::vector<Judging>& judging) {
  return std::none_of(queues.begin(), queues.end(), [&](const KernelQueue& q) { return q.running.get() == &p; }) &&
         std::none_of(judging.begin(), judging.end(), [&](const Judging& j) { return j.of.get() == &p; });
}

}  // namespace assay
