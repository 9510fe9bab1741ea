// SPDX-License-Identifier: Apache-2.0
// An array of f64 in lazily allocated pages, so that rows which a sampled golden skips cost no memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace assay {

class LazyArray {
 public:
  // Zero-initialised.  `whole`: all of it will be used, so huge pages save time.  Throws std::bad_alloc.
  LazyArray(std::size_t count, bool whole) : count_(count) {
    if (count == 0) return;
    void* p = ::mmap(nullptr, count * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<double*>(p);
    // Only a hint: failure does not matter.  Note: a sampled row in a huge page would take all of it.
    ::madvise(p, count * sizeof(double), whole ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  LazyArray(LazyArray&& o) noexcept : data_(std::exchange(o.data_, nullptr)), count_(std::exchange(o.count_, 0)) {}
  LazyArray& operator=(LazyArray&&) = delete;
  ~LazyArray() {
    if (data_) ::munmap(data_, count_ * sizeof(double));
  }
  std::span<double> values() const { return {data_, count_}; }

 private:
  double* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace assay
