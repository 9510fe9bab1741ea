// SPDX-License-Identifier: Apache-2.0
// A machine that errs at random as much as the contracts let the kernels err.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "validate/model/choice.hpp"
#include "validate/model/machine/machine.hpp"

namespace assay {

// Computes each step as its contract allows: the golden of the op on the inputs as stored, plus a random error with the standard
// deviation that the declared numerics of the chosen kernel give each element, then rounded to the dtype.
class ContractMachine final : public Machine {
 public:
  ContractMachine(const KernelChoice& choice, std::uint64_t seed) : choice_(choice), seed_(seed) {}
  void* allocate(std::size_t bytes, std::string_view label) override;
  void release(void* p) noexcept override { memory_.erase(p); }
  void write(void* to, const void* host, std::size_t bytes) override;
  void read(void* host, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void run(const Step&, const Op&, Problem&) override;

 private:
  const KernelChoice& choice_;
  std::uint64_t seed_, steps_ = 0;
  std::map<void*, std::vector<std::byte>> memory_;
};

}  // namespace assay
