// SPDX-License-Identifier: Apache-2.0
// Estimates the host memory that a case needs before anything is allocated.  A failed allocation would end the run, and memory
// that the system grants but does not have would end the process.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "validate/problem/op.hpp"
#include "validate/tasks/task.hpp"

namespace assay {

// Bytes that a task takes: as it is prepared, once it is, and for each kernel that is judged on it (judge and worker together).
struct TaskMemory {
  double preparing = 0, prepared = 0, kernel = 0;
  // A kernel's workspace is in its worker's memory, unless that is a GPU's; simt has two bits for each byte.
  TaskMemory with_workspace(std::size_t bytes, std::string_view backend) const {
    const double host = backend == "cuda" ? 0 : backend == "simt" ? 1.25 : 1;
    return {preparing, prepared, kernel + host * static_cast<double>(bytes)};
  }
  double peak() const { return preparing > prepared + kernel ? preparing : prepared + kernel; }  // with one kernel at a time
};

// Counts what the code allocates: the images of all tensors, the golden with its scratch, what the simulated machine keeps beside
// its memory, and the related problems of the relations that will be tried.  Right within a fifth for what is larger than 256 MiB
// (validate/tests/command/memory_test.py), but for a kernel's workspace, which only its worker may ask for.  With `watch` an
// upper bound; what counting sectors takes is left out.
TaskMemory memory_of(const Task&, const JudgeOptions&);

// One clause that says why a task that needs so many bytes does not fit in `available` bytes; empty if it fits.
std::string too_large(const Task&, double needed, std::size_t available);

// The sums of one row in the check of all errors together (validate/judge/aggregate.cpp).
inline constexpr std::size_t kBytesOfRowSums = 96;

}  // namespace assay
