// SPDX-License-Identifier: Apache-2.0
// The memory of one tensor, with guard bytes around it where the machine does not check each access itself.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/values/islands.hpp"
#include "validate/worker/backend.hpp"

namespace assay {

// The kernel wrote out of bounds, changed an input, or left an output element unwritten.
struct SideEffect : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws NoMemory for more bytes than any memory has, with which sums of bytes would overflow.
inline void require_some_memory_has(std::size_t bytes, std::string_view label) {
  if (bytes > SIZE_MAX / 2)
    throw NoMemory(fmt::format("needs {} MiB of memory for '{}', which are not free", bytes >> 20, label));
}

// Device memory with guard bytes on both sides, unless the machine checks every access itself.  Only its islands are written and
// read.
class GuardedBuffer {
 public:
  GuardedBuffer(Backend& backend, std::size_t bytes, std::size_t offset, std::string_view label)
      : GuardedBuffer(backend, bytes, offset, label, {{0, bytes}}) {}
  GuardedBuffer(Backend& backend, std::size_t bytes, std::size_t offset, std::string_view label, std::vector<Island> parts)
      : backend_(backend),
        bytes_(bytes),
        guard_(backend.checks_bounds() ? 0 : kGuardBytes),
        label_(label),
        islands_(std::move(parts)) {
    require_some_memory_has(bytes, label);
    base_ = static_cast<std::byte*>(islands_.size() > 1 ? backend.allocate_apart(bytes + 2 * guard_, offset, label, with_guards())
                                                        : backend.allocate(bytes + 2 * guard_, offset, label));
    if (guard_) backend_.fill(base_, kGuard, bytes_ + 2 * guard_);
  }
  ~GuardedBuffer() { backend_.release(base_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* data() const { return base_ + guard_; }
  const void* allocation() const { return base_; }
  const std::string& label() const { return label_; }
  const std::vector<Island>& islands() const { return islands_; }
  void write(const std::byte* from) {
    for (const Island& i : islands_) backend_.write(data() + i.begin, from + i.begin, i.bytes());
  }
  void read(std::byte* to) const {
    for (const Island& i : islands_) backend_.read(to + i.begin, data() + i.begin, i.bytes());
  }
  // read() and check().  A small buffer takes one transfer for both, since each transfer has a fixed cost.
  void read_checked(std::byte* to) const {
    if (guard_ == 0 || bytes_ > kSmall) {
      read(to);
      return check();
    }
    std::vector<std::byte> all(bytes_ + 2 * guard_);
    backend_.read(all.data(), base_, all.size());
    std::copy_n(all.data() + guard_, bytes_, to);
    check(all.data(), all.data() + guard_ + bytes_);
  }
  void fill(std::byte garbage) {
    for (const Island& i : islands_) backend_.fill(data() + i.begin, garbage, i.bytes());
  }
  // Throws SideEffect if a guard byte has changed.
  void check() const {
    if (guard_ == 0) return;
    std::vector<std::byte> before(guard_), after(guard_);
    backend_.read(before.data(), base_, guard_);
    backend_.read(after.data(), data() + bytes_, guard_);
    check(before.data(), after.data());
  }

 private:
  void check(const std::byte* before, const std::byte* after) const {
    for (std::size_t k = 0; k < guard_; ++k)  // nearest to the buffer first
      if (before[guard_ - 1 - k] != kGuard)
        throw SideEffect(fmt::format("wrote outside '{}': {} bytes before its start", label_, k + 1));
    for (std::size_t k = 0; k < guard_; ++k)
      if (after[k] != kGuard) throw SideEffect(fmt::format("wrote outside '{}': {} bytes past its end", label_, k + 1));
  }

  // The islands as offsets in the allocation, the guards part of the first and the last.
  std::vector<Island> with_guards() const {
    std::vector<Island> all = islands_;
    for (Island& i : all) {
      i.begin += guard_;
      i.end += guard_;
    }
    all.front().begin -= guard_;
    all.back().end += guard_;
    return all;
  }

  static constexpr std::size_t kSmall = std::size_t{4} << 20;  // up to this, a copy on the host costs less than more transfers
  static constexpr std::size_t kGuardBytes = 16 * 1024;
  static constexpr std::byte kGuard{0xff};  // NaN in every floating-point type, so that a read out of bounds shows too

  Backend& backend_;
  std::size_t bytes_, guard_;
  std::string label_;
  std::vector<Island> islands_;
  std::byte* base_ = nullptr;
};

}  // namespace assay
