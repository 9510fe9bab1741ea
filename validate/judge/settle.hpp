// SPDX-License-Identifier: Apache-2.0
// From what a worker answered to a record with its verdict.
#pragma once

#include <memory>
#include <string>

#include "validate/judge/prepare.hpp"
#include "validate/judge/tiers.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/task.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// What came back for one record and waits to be judged.
struct Result {
  std::shared_ptr<Prepared> of;
  const Kernel* kernel;
  SharedMemory outputs;  // of the runs of `runs_of`
  std::vector<RelatedRun> related;
  Verdict verdict = Verdict::passed;  // passed: to be judged by its outputs
  Reply reply;
};

// The launches of a kernel on a case, in the order of their outputs: kRuns of them, then, where its inputs have a second set, one
// replayed on that and one launched on it.
std::vector<OrderRun> runs_of(const Kernel&, const Prepared&, const JudgeOptions&);

// What a reply says before its outputs are looked at.
Verdict verdict_of(const Reply&);

// The record of a kernel on a task that was not run.
Record skipped(const Task&, const Kernel&, const JudgeOptions&, std::string why, bool incomplete = false);

// Judges the outputs of both runs where there are some.  Threads may judge at the same time.
Record settle(const Result&, const JudgeOptions&);

}  // namespace assay
