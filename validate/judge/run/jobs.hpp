// SPDX-License-Identifier: Apache-2.0
// The jobs of a run: problems and judgements that a pool of threads makes while the run's own thread talks to workers.
//
// A job may outlive its run: a golden takes longer than it may, the budget cuts off a judgement, a signal ends the run.  So a job
// owns what it uses, by value or by shared_ptr, and no part of the run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/base/thread_pool.hpp"
#include "validate/judge/run/terms.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

class Jobs {
 public:
  // Each posts a job, and adds its time to that of its kind.
  template <class Job>
  auto make(Job job) {
    return post(&Times::making_ns, std::move(job));
  }
  template <class Job>
  auto judge(Job job) {
    return post(&Times::judging_ns, std::move(job));
  }
  // Starts a thread in the place of one whose job nobody waits for any more.
  void no_longer_wait() { pool_.add_thread(); }
  void leave() { pool_.leave(); }  // as ThreadPool::leave()

  int ended() const { return pool_.ended(); }
  void forget_ended() const { pool_.forget_ended(); }
  double making_s() const { return 1e-9 * static_cast<double>(times_->making_ns); }
  double judging_s() const { return 1e-9 * static_cast<double>(times_->judging_ns); }

 private:
  struct Times {
    std::atomic<std::int64_t> making_ns = 0, judging_ns = 0;
  };
  template <class Job>
  auto post(std::atomic<std::int64_t> Times::*of_kind, Job job) {
    return pool_.post([times = times_, of_kind, job = std::move(job)]() mutable {
      const Stopwatch at_work;
      auto made = job();
      (*times).*of_kind += static_cast<std::int64_t>(at_work.seconds() * 1e9);
      return made;
    });
  }

  std::shared_ptr<Times> times_ = std::make_shared<Times>();
  ThreadPool pool_{std::clamp(cores(), 1, 8)};
};

// Whether a job has ended.
template <class T>
bool ready(const std::future<T>& f) {
  return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
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

}  // namespace assay
