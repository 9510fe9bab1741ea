// SPDX-License-Identifier: Apache-2.0
// The judge: cases outermost, so that each golden is computed once for all kernels; candidates in worker processes;
// one record per (case, kernel).
#pragma once

#include <functional>
#include <span>

#include "validate/problem/op.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/task.hpp"

namespace assay {

// Judges every task and hands the records over in order, as soon as they are known.
Tally judge(std::span<const Task> tasks, const JudgeOptions& options, const std::function<void(const Record&)>& on_record);

}  // namespace assay
