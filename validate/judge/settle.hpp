// SPDX-License-Identifier: Apache-2.0
// From what a worker answered to a record with its verdict.
#pragma once

#include <memory>
#include <string>

#include "validate/judge/prepare.hpp"
#include "validate/judge/task.hpp"
#include "validate/records/record.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// What came back for one record and waits to be judged.
struct Result {
  std::shared_ptr<Prepared> of;
  const Kernel* kernel;
  SharedMemory outputs;
  Verdict verdict = Verdict::passed;  // passed: to be judged by its outputs
  Reply reply;
};

// What a reply says before its outputs are looked at.
Verdict verdict_of(const Reply&);

// The record of a kernel on a task that was not run.
Record skipped(const Task&, const Kernel&, const JudgeOptions&, std::string why);

// Judges the outputs of both runs where there are some.  Threads may judge at the same time.
Record settle(const Result&, const JudgeOptions&);

}  // namespace assay
