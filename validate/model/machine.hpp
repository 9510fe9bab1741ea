// SPDX-License-Identifier: Apache-2.0
// Where the steps of a pass run: kernels on a backend, or the contract itself on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/core/greedy/greedy.hpp"
#include "validate/model/choice.hpp"

namespace assay {

// A step with its problem, whose tensors have memory of the machine.
struct PlacedStep {
  const Step& step;
  const Op& op;
  Problem& problem;
};

// The steps of a pass that are alike in all but their layer, the kernel that was the fastest, and its time for all of them.
struct StepTime {
  std::string_view op, kernel;
  std::string name;  // as in Step
  int count = 0;
  double us = 0;     // of all
  double bytes = 0;  // that they read and write at least, without the cache
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual void* allocate(std::size_t bytes, std::string_view label) = 0;
  virtual void release(void* p) noexcept = 0;
  virtual void write(void* to, const void* host, std::size_t bytes) = 0;
  virtual void read(void* host, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;
  // Runs a step whose tensors have memory of this machine.
  virtual void run(const Step&, const Op&, Problem&) = 0;
  // Runs all steps once, then makes a record of them, with the choice of the next tokens behind them.  With a clock, the fastest
  // kernel is taken for each kind of steps, and `times` gets what was measured; they share a workspace, for any of these kernels.
  virtual std::unique_ptr<Replay> record(const std::vector<PlacedStep>&, const NextTokens&, bool /*as_graph*/,
                                         std::vector<StepTime>& /*times*/) {
    throw std::logic_error("only kernels run a pass again");
  }
};

// A kernel did something forbidden, or its launch failed, in a step.
struct StepFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class KernelMachine final : public Machine {
 public:
  KernelMachine(Backend& backend, const KernelChoice& choice, RunOptions how = {})
      : backend_(backend), choice_(choice), how_(how) {}
  void* allocate(std::size_t bytes, std::string_view label) override { return backend_.allocate(bytes, 0, label); }
  void release(void* p) noexcept override { backend_.release(p); }
  void write(void* to, const void* host, std::size_t bytes) override { backend_.write(to, host, bytes); }
  void read(void* host, const void* from, std::size_t bytes) override { backend_.read(host, from, bytes); }
  void fill(void* to, std::byte value, std::size_t bytes) override { backend_.fill(to, value, bytes); }
  void run(const Step&, const Op&, Problem&) override;
  std::unique_ptr<Replay> record(const std::vector<PlacedStep>&, const NextTokens&, bool as_graph,
                                 std::vector<StepTime>& times) override;
  const KernelChoice& choice() const { return choice_; }

 private:
  Backend& backend_;
  const KernelChoice& choice_;
  RunOptions how_;
};

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
