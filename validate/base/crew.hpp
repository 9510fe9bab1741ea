// SPDX-License-Identifier: Apache-2.0
// Threads that make goldens and judge outputs, beside the one that talks to the workers.  Their jobs open parallel regions of
// their own (OpenMP); those who work at a time share the cores.
#pragma once

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

class Crew {
 public:
  explicit Crew(int threads);
  ~Crew();  // waits for the jobs that have begun; drops the others
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }

  // What the job throws comes with the future.
  template <class Job>
  auto post(Job job) {
    auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
    auto future = task->get_future();
    push([task] { (*task)(); });
    return future;
  }

  int ended() const { return ended_; }  // a descriptor, readable when a job has ended since the last forget_ended()
  void forget_ended() const;

 private:
  void push(std::function<void()> job);
  void work();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> jobs_;
  bool closing_ = false;
  int ended_ = -1;
  int working_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace assay
