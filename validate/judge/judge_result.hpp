// SPDX-License-Identifier: Apache-2.0
// Makes a record with its verdict from what a worker returned.
#pragma once

#include <memory>
#include <string>

#include "validate/judge/judge_outputs.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/task.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// What a worker returned for one record, before it is judged.
struct WorkerResult {
  std::shared_ptr<Prepared> of;
  const Kernel* kernel;
  SharedMemory outputs;  // of all runs, in the order of runs_of()
  std::vector<RelatedRun> related;
  Verdict verdict = Verdict::passed;  // passed: the outputs decide
  Reply reply;
};

// How many launches on the second set of inputs come before the first run: of small cases one in four has up to 35.
std::size_t calls_before(const Prepared&);

// The runs of a kernel on a case: kRuns direct launches, the first right after launches on the second set of inputs, if there is
// one; then, on a GPU and if the kernel is deterministic, a graph replay and a direct launch on that set.
std::vector<OrderRun> runs_of(const Kernel&, const Prepared&, const JudgeOptions&);

// The verdict of a reply before its outputs are judged.
Verdict verdict_of(const Reply&);

// The record of a kernel on a task that was not run, and why.  `incomplete`: as Record::incomplete.
Record skipped(const Task&, const Kernel&, const JudgeOptions&, std::string why, bool incomplete = false);

// Makes the record of a result, and judges the outputs unless the worker failed.  Thread-safe.
Record judge_result(const WorkerResult&, const JudgeOptions&);

}  // namespace assay
