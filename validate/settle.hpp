// SPDX-License-Identifier: Apache-2.0
// From what a worker answered to a record with its verdict.
#pragma once

#include <memory>

#include "validate/judge.hpp"
#include "validate/prepare.hpp"
#include "validate/record.hpp"
#include "validate/shared_memory.hpp"
#include "validate/worker.hpp"

namespace assay {

// What came back for one record and waits to be judged.
struct Result {
  std::shared_ptr<Prepared> of;
  const Kernel* kernel;
  SharedMemory outputs;
  Verdict verdict = Verdict::passed;  // passed: to be judged by its outputs
  Reply reply;
};

// The record of a kernel on a task, with nothing judged yet.
Record blank_record(const Task&, const Kernel&, const JudgeOptions&);

// Judges the outputs of both runs where there are some.  Threads may judge at the same time.
Record settle(const Result&, const JudgeOptions&);

}  // namespace assay
