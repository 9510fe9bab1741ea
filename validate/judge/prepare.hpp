// SPDX-License-Identifier: Apache-2.0
// Prepares a task for its kernels: makes the inputs in shared memory, and the golden.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "validate/judge/aggregate.hpp"
#include "validate/tasks/memory.hpp"
#include "validate/tasks/room.hpp"
#include "validate/tasks/task.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// Images by tensor, in the op's order; null: there is none.
using Images = std::vector<std::byte*>;

// A task with its inputs made and its golden solved.
struct Prepared {
  const Task* task;
  std::shared_ptr<const Task> owner{};  // of the task, where it must outlive its run
  std::size_t first_record;             // index of its first kernel's record
  Packing packing;
  Images given;         // of inputs, and of initial values of updated outputs, in the first set or where they were given
  SharedMemory inputs;  // `input_sets` sets of the case's images; the second has other values
  std::size_t input_sets = 1;
  std::unique_ptr<Problem> problem;
  bool exact = false;                  // the right answer is exactly representable (Fill::exact)
  bool scattered = false;              // Fill::scattered, and the errors are independent
  bool finite = true;                  // no input is NaN or infinite, or no kernel of the task asks
  std::vector<std::string> relations;  // names of the relations to try
  Predictions predictions;
  TaskMemory needs{};
  Room::Share memory{}, place{}, file{};  // that it takes of its run; the memory is that with one kernel

  // Whether a kernel must meet the answer exactly.
  bool asks_exact(const Numerics& numerics) const { return exact && numerics.exact_where_representable(task->c.dtype); }
};

// Whether no given value of a set of inputs is NaN or infinite.
bool all_finite(const Op&, const Packing&, const std::byte* inputs);

struct PrepareTimes {
  double inputs_s = 0, golden_s = 0;
};

// Solves the golden of the inputs in p.given for p.task, whose fill says what is known of them.  Throws as prepare() does.
void solve_given(Prepared& p);

// Makes the inputs and solves the golden.  Throws std::runtime_error if there is no memory for them, BadInput if the contract
// does not allow the case.  A second set of inputs is made for every case if `replayed`, else for one of eight cases of at most
// 2^17 elements.  It serves the launch that nobody judges before the first run (`after` of an order), and graph replays.
std::shared_ptr<Prepared> prepare(const Task& task, std::size_t first_record, bool replayed = false,
                                  PrepareTimes* times = nullptr);

}  // namespace assay
