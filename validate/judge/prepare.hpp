// SPDX-License-Identifier: Apache-2.0
// What a task needs before any kernel can run on it: inputs in shared memory, and the golden.
#pragma once

#include <cstddef>
#include <memory>

#include "validate/judge/aggregate.hpp"
#include "validate/tasks/task.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// A task with its inputs made and its golden solved.
struct Prepared {
  const Task* task;
  std::size_t first_record;  // number of the record of its first kernel
  Packing packing;
  SharedMemory inputs;  // one set, or two: the case's, and others for a replay to work on
  std::size_t input_sets = 1;
  std::unique_ptr<Problem> problem;
  bool exact = false;
  bool scattered = false;              // Fill::scattered, and errors that are independent
  std::vector<std::string> relations;  // that are tried on it
  Predictions predictions;
  double bytes = 0;  // of memory, about
};

struct PrepareTimes {
  double inputs_s = 0, golden_s = 0;
};

// Makes the inputs, a second set of them where launches are to be replayed on other numbers, and solves the golden.  Throws
// std::runtime_error where there is no memory for them, BadInput where the contract has no such case.
std::shared_ptr<Prepared> prepare(const Task& task, std::size_t first_record, bool replayed = false,
                                  PrepareTimes* times = nullptr);

}  // namespace assay
