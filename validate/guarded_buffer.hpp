// SPDX-License-Identifier: Apache-2.0
// Device memory that tells what was written beside it.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "validate/backend.hpp"

namespace assay {

// What the kernel did to what it must leave alone.
struct Misdeed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Device memory with a guard region on both sides, unless the machine checks every access itself.
class GuardedBuffer {
 public:
  GuardedBuffer(Backend& backend, std::size_t bytes, std::size_t offset, std::string_view label)
      : backend_(backend), bytes_(bytes), guard_(backend.checks_bounds() ? 0 : kGuardBytes), label_(label) {
    base_ = static_cast<std::byte*>(backend.allocate(bytes + 2 * guard_, offset, label));
    if (guard_ == 0) return;
    const std::vector<std::byte> guard(guard_, kGuard);
    backend_.write(base_, guard.data(), guard_);
    backend_.write(base_ + guard_ + bytes_, guard.data(), guard_);
  }
  ~GuardedBuffer() { backend_.release(base_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* data() const { return base_ + guard_; }
  const void* allocation() const { return base_; }
  const std::string& label() const { return label_; }
  void write(const std::byte* from) { backend_.write(data(), from, bytes_); }
  void read(std::byte* to) const { backend_.read(to, data(), bytes_); }
  void fill(std::byte garbage) { backend_.fill(data(), garbage, bytes_); }
  // Throws Misdeed where something was written outside.
  void check() const {
    std::vector<std::byte> seen(guard_);
    for (const bool after : {false, true}) {
      if (guard_ == 0) continue;
      backend_.read(seen.data(), after ? data() + bytes_ : base_, guard_);
      for (std::size_t k = 0; k < guard_; ++k) {
        const std::size_t at = after ? k : guard_ - 1 - k;  // from the buffer outwards
        if (seen[at] != kGuard)
          throw Misdeed(
              fmt::format("wrote outside '{}': {} bytes {}", label_, k + 1, after ? "past its end" : "before its start"));
      }
    }
  }

 private:
  static constexpr std::size_t kGuardBytes = 16 * 1024;
  static constexpr std::byte kGuard{0xff};  // NaN in every floating-point type: what is read there shows

  Backend& backend_;
  std::size_t bytes_, guard_;
  std::string label_;
  std::byte* base_ = nullptr;
};

}  // namespace assay
