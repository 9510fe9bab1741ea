// SPDX-License-Identifier: Apache-2.0
// Counts the memory that a model takes, before any of it is allocated.
#pragma once

#include <cstdint>

#include "validate/model/choice.hpp"
#include "validate/model/machine/machine.hpp"

namespace assay {

// Has no memory and runs nothing: counts the bytes that a KernelMachine with a clock is asked for and keeps.
class CountingMachine final : public Machine {
 public:
  explicit CountingMachine(const KernelChoice& choice) : choice_(choice) {}
  std::size_t bytes() const { return bytes_; }  // of all allocations so far, as if none was released
  void* allocate(std::size_t bytes, std::string_view label) override;
  void release(void*) noexcept override {}
  void write(void*, const void*, std::size_t) override {}
  void read(void* host, const void* from, std::size_t bytes) override;  // zeros
  void fill(void*, std::byte, std::size_t) override {}
  void run(const Step&, const Op&, Problem&) override {}
  std::unique_ptr<Replay> record(const std::vector<PlacedStep>&, const NextTokens&, bool, std::vector<StepTime>&) override;

 private:
  const KernelChoice& choice_;
  static constexpr std::size_t kApart = 256;  // bytes, as a backend aligns what it allocates
  std::size_t bytes_ = 0;
  std::uintptr_t address_ = kApart;
};

}  // namespace assay
