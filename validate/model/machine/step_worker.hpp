// SPDX-License-Identifier: Apache-2.0
// Runs a step by a kernel of a set, in the worker of that set.
#pragma once

#include <cstdint>
#include <memory>

#include "validate/model/plan.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/process.hpp"

namespace assay {

class StepWorker {
 public:
  explicit StepWorker(Backend& backend) : backend_(backend) {}
  // The problem's tensors have memory of the backend, which is copied for the worker, and back.  Throws std::runtime_error if the
  // kernel does something forbidden or crashes, BadInput if it does not take the step.
  void run(const Step&, const Kernel&, const Op&, Problem&, const RunOptions&);

 private:
  Backend& backend_;
  std::unique_ptr<WorkerProcess> process_;
  std::int64_t orders_ = 0;
};

}  // namespace assay
