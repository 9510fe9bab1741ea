// SPDX-License-Identifier: Apache-2.0
// The judge.  It goes case by case, so that each golden is computed once for all kernels, runs candidates in worker processes,
// and makes one record per case and kernel.
#pragma once

#include <functional>
#include <span>

#include "validate/problem/op.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/task.hpp"

namespace assay {

// Judges every task.  Calls `on_record` in the calling thread, in the order of the tasks, as soon as a record is known.
Tally judge(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record);

}  // namespace assay
