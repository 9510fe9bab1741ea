// SPDX-License-Identifier: Apache-2.0
// What a run of the judge has under way: tasks being prepared, kernels with their workers, results being judged.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "validate/base/stopwatch.hpp"
#include "validate/judge/judge_result.hpp"
#include "validate/problem/relate.hpp"
#include "validate/worker/process.hpp"

namespace assay {

// A kernel, the prepared tasks that wait for it, and its worker, which no other kernel uses.
struct KernelQueue {
  const Kernel* kernel;
  std::size_t last_task = 0;  // index of the last task with this kernel
  std::deque<std::shared_ptr<Prepared>> tasks{};
  std::unique_ptr<WorkerProcess> worker{};
  // The current task: first the case itself, then its related problems, each made after the reply to the one before.
  std::shared_ptr<Prepared> running{};
  SharedMemory outputs{};
  Reply reply{};  // of the case itself
  std::vector<RelatedRun> related{};
  std::size_t next_relation = 0;  // index in running->relations
  bool on_related = false;        // the pending order is for a related problem
  std::future<std::optional<Related>> making{};
  SharedMemory related_inputs{}, related_outputs{};
  std::int64_t order = 0;  // id of the pending order; 0: none
  std::size_t runs = 0;    // that it asks for
  Stopwatch sent;          // started when the pending order was sent
  const Relation* relation() const { return find_relation(*running->task->op, running->relations[next_relation]); }
};

// Whether a job has ended.
template <class T>
bool ready(const std::future<T>& f) {
  return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// A task that is being prepared, or is prepared (`made`) but not yet looked at by power.
struct Making {
  const Task* task;
  double bytes;
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
  std::future<Record> record;
};

}  // namespace assay
