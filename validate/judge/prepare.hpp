// SPDX-License-Identifier: Apache-2.0
// Prepares a task for its kernels: makes the inputs in shared memory, and the golden.
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
  std::shared_ptr<const Task> owner{};  // of the task, where it must outlive its run
  std::size_t first_record;             // index of its first kernel's record
  Packing packing;
  SharedMemory inputs;  // the case's images, and for graph replays a second set of images with other values
  std::size_t input_sets = 1;
  std::unique_ptr<Problem> problem;
  bool exact = false;                  // the right answer is exactly representable (Fill::exact)
  bool scattered = false;              // Fill::scattered, and the errors are independent
  std::vector<std::string> relations;  // names of the relations to try
  Predictions predictions;
  double bytes = 0;  // by memory_of()

  // Whether a kernel must meet the answer exactly.
  bool asks_exact(const Numerics& numerics) const { return exact && numerics.exact_where_representable(task->c.dtype); }
};

struct PrepareTimes {
  double inputs_s = 0, golden_s = 0;
};

// Makes the inputs and solves the golden.  A second set of inputs is made for a launch with other values before the second run,
// in one small case of eight, and with `replayed` in every case, for graph replays too.  Throws std::runtime_error if there is no
// memory for them, BadInput if the contract does not allow the case.
std::shared_ptr<Prepared> prepare(const Task& task, std::size_t first_record, bool replayed = false,
                                  PrepareTimes* times = nullptr);

}  // namespace assay
