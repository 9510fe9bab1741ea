// SPDX-License-Identifier: Apache-2.0
// Threads that make goldens and judge outputs (validate/judge/run/jobs.hpp).  Jobs that run at once share the cores for OpenMP.
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
  ~ThreadPool();                     // drops queued jobs; waits for running ones, unless it has left them
  bool add_thread();                 // for one that does a job which nobody waits for any more; false: none can be started
  // Drops queued jobs.  Those that run go on without this pool, and so may use only what they own.  If there are such, the
  // program must end without destructors of what is global (jobs_left_running).
  void leave();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Queues a job.  The future holds its result or its exception.
  template <class Job>
  auto post(Job job) {
    auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
    auto future = task->get_future();
    push([task] { (*task)(); });
    return future;
  }

  int ended() const { return shared_->ended; }  // a descriptor, readable if a job has ended since the last forget_ended()
  void forget_ended() const;

 private:
  // What the threads use.  The pool owns it, and so does each thread.
  struct Shared {
    Shared();
    ~Shared();
    std::mutex mutex{};
    std::condition_variable posted{};
    std::deque<std::function<void()>> jobs{};
    bool closing = false;
    int ended;
    int working = 0;
  };
  static void work(Shared&);
  void push(std::function<void()> job);
  void close();

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::thread> threads_;
};

}  // namespace assay
