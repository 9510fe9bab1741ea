// SPDX-License-Identifier: Apache-2.0
// The pages of a key/value cache, shared by sequences: each takes pages as it grows and gives them back at its end.
#pragma once

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {

// The cache has too few free pages.
struct OutOfPages : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class PagePool {
 public:
  PagePool(std::int64_t pages, std::int64_t page_size)
      : page_size_(page_size), total_(pages), free_(static_cast<std::size_t>(pages)) {
    std::iota(free_.rbegin(), free_.rend(), 0);  // page 0 is taken first
  }
  std::int64_t page_size() const { return page_size_; }
  std::int64_t total() const { return total_; }
  std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }

  // Gives `pages`, those of a sequence, as many more as `length` positions need.  If there are too few, gives none and throws.
  void grow(std::vector<std::int32_t>& pages, std::int64_t length) {
    const std::int64_t needed = (length + page_size_ - 1) / page_size_ - static_cast<std::int64_t>(pages.size());
    if (needed > free())
      throw OutOfPages("a sequence of " + std::to_string(length) + " positions needs " + std::to_string(needed) +
                       " more pages of " + std::to_string(page_size_) + " positions, and " + std::to_string(free()) + " of the " +
                       std::to_string(total_) + " in the cache are free");
    for (std::int64_t k = 0; k < needed; ++k) {
      pages.push_back(free_.back());
      free_.pop_back();
    }
  }
  void release(std::vector<std::int32_t>& pages) {
    free_.insert(free_.end(), pages.rbegin(), pages.rend());
    pages.clear();
  }

 private:
  std::int64_t page_size_, total_;
  std::vector<std::int32_t> free_;
};

}  // namespace assay
