// SPDX-License-Identifier: Apache-2.0
// Runs each step by its kernel on a backend.
#pragma once

#include "validate/model/choice.hpp"
#include "validate/model/machine/machine.hpp"
#include "validate/model/machine/step_worker.hpp"

namespace assay {

class KernelMachine final : public Machine {
 public:
  KernelMachine(Backend& backend, const KernelChoice& choice, RunOptions how = {})
      : backend_(backend), choice_(choice), how_(how), worker_(backend) {}
  void* allocate(std::size_t bytes, std::string_view label) override { return backend_.allocate(bytes, 0, label); }
  void release(void* p) noexcept override { backend_.release(p); }
  void write(void* to, const void* host, std::size_t bytes) override { backend_.write(to, host, bytes); }
  void read(void* host, const void* from, std::size_t bytes) override { backend_.read(host, from, bytes); }
  void fill(void* to, std::byte value, std::size_t bytes) override { backend_.fill(to, value, bytes); }
  void run(const Step&, const Op&, Problem&) override;
  std::unique_ptr<Replay> record(const std::vector<PlacedStep>&, const NextTokens&, bool as_graph,
                                 std::vector<StepTime>& times) override;

 private:
  Backend& backend_;
  const KernelChoice& choice_;
  RunOptions how_;
  StepWorker worker_;  // of the kernels of a set
};

}  // namespace assay
