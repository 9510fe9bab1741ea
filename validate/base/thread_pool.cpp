// SPDX-License-Identifier: Apache-2.0
#include "validate/base/thread_pool.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace assay {

std::atomic<bool> jobs_left_running{false};

ThreadPool::ThreadPool(int threads) : ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (ended_ < 0) throw std::runtime_error(fmt::format("cannot make an event descriptor: {}", std::strerror(errno)));
  for (int i = 0; i < std::max(1, threads) && add_thread(); ++i) {
  }
  if (!threads_.empty()) return;
  ::close(ended_);
  throw std::runtime_error("no thread can be started");
}

bool ThreadPool::add_thread() {
  try {
    threads_.emplace_back([this] { work(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void ThreadPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    jobs_.clear();
  }
  posted_.notify_all();
}

bool ThreadPool::leave() {
  close();
  const std::lock_guard lock(mutex_);
  if (working_ > 0) jobs_left_running = true;
  return working_ > 0;
}

ThreadPool::~ThreadPool() {
  close();
  for (std::thread& t : threads_) t.join();
  ::close(ended_);
}

void ThreadPool::push(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  posted_.notify_one();
}

void ThreadPool::work() {
  const int cores = omp_get_num_procs();
  std::unique_lock lock(mutex_);
  while (true) {
    posted_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
    if (closing_) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    ++working_;
    omp_set_num_threads(std::max(1, cores / working_));
    lock.unlock();
    job();
    job = nullptr;  // frees what the job owns before its end is signalled
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(ended_, &one, sizeof one);
    lock.lock();
    --working_;
  }
}

void ThreadPool::forget_ended() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(ended_, &count, sizeof count);
}

}  // namespace assay
