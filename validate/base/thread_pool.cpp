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

ThreadPool::Shared::Shared() : ended(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (ended < 0) throw std::runtime_error(fmt::format("cannot make an event descriptor: {}", std::strerror(errno)));
}

ThreadPool::Shared::~Shared() { ::close(ended); }

ThreadPool::ThreadPool(int threads) {
  for (int i = 0; i < std::max(1, threads) && add_thread(); ++i) {
  }
  if (threads_.empty()) throw std::runtime_error("no thread can be started");
}

bool ThreadPool::add_thread() {
  try {
    threads_.emplace_back([shared = shared_] { work(*shared); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void ThreadPool::close() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->closing = true;
    shared_->jobs.clear();
  }
  shared_->posted.notify_all();
}

void ThreadPool::leave() {
  close();
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->working == 0) return;
  }
  jobs_left_running = true;
  for (std::thread& t : threads_) t.detach();
  threads_.clear();
}

ThreadPool::~ThreadPool() {
  close();
  for (std::thread& t : threads_) t.join();
}

void ThreadPool::push(std::function<void()> job) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->jobs.push_back(std::move(job));
  }
  shared_->posted.notify_one();
}

void ThreadPool::work(Shared& shared) {
  const int cores = omp_get_num_procs();
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.posted.wait(lock, [&] { return shared.closing || !shared.jobs.empty(); });
    if (shared.closing) return;
    std::function<void()> job = std::move(shared.jobs.front());
    shared.jobs.pop_front();
    ++shared.working;
    omp_set_num_threads(std::max(1, cores / shared.working));
    lock.unlock();
    job();
    job = nullptr;  // frees what the job owns before its end is signalled
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(shared.ended, &one, sizeof one);
    lock.lock();
    --shared.working;
  }
}

void ThreadPool::forget_ended() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(shared_->ended, &count, sizeof count);
}

}  // namespace assay
