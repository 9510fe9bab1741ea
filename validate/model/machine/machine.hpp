// SPDX-License-Identifier: Apache-2.0
// Where the steps of a pass run: kernels on a backend, or the contract itself on the host.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/core/greedy/greedy.hpp"
#include "validate/model/plan.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/backend.hpp"

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

}  // namespace assay
