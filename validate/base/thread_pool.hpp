// SPDX-License-Identifier: Apache-2.0
// Threads that make goldens and judge outputs (validate/judge/judge.cpp).  Jobs that run at once share the cores for OpenMP.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace assay {

// Whether a pool was left with running jobs.
extern std::atomic<bool> jobs_left_running;

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // throws std::runtime_error if not one can be started
  ~ThreadPool();                     // waits for running jobs, drops queued ones
  bool add_thread();                 // for one that does a job which nobody waits for any more; false: none can be started
  // Drops queued jobs, and returns whether jobs still run.  Then nothing that they use may be destroyed, this pool included, and
  // the program must end without destructors of what is global (jobs_left_running).
  bool leave();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }

  // Queues a job.  The future holds its result or its exception.
  template <class Job>
  auto post(Job job) {
    auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
    auto future = task->get_future();
    push([task] { (*task)(); });
    return future;
  }

  int ended() const { return ended_; }  // a descriptor, readable if a job has ended since the last forget_ended()
  void forget_ended() const;

 private:
  void push(std::function<void()> job);
  void work();
  void close();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> jobs_;
  bool closing_ = false;
  int ended_ = -1;
  int working_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace assay
