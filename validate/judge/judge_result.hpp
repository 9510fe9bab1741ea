// SPDX-License-Identifier: Apache-2.0
// Makes a record with its verdict from what a worker returned.
#pragma once

#include <memory>

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
  std::shared_ptr<const SharedMemory> outputs;  // of all runs, in the order of runs_of(); null: there are none
  std::vector<RelatedRun> related;
  Verdict verdict = Verdict::passed;  // passed: the outputs decide
  Reply reply;
};

// Makes the record of a result, and judges the outputs unless the worker failed.  Thread-safe.
Record judge_result(const WorkerResult&, const JudgeOptions&);

}  // namespace assay
