// SPDX-License-Identifier: Apache-2.0
// The launches that an order asks for.
#pragma once

#include <cstddef>
#include <vector>

#include "validate/judge/prepare.hpp"
#include "validate/tasks/task.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

// How many launches on the second set of inputs come before the first run: of small cases one in four has up to 35.
std::size_t calls_before(const Prepared&);

// The runs of a kernel on a case: kRuns direct launches, the first right after launches on the second set of inputs, if there is
// one; then, on a GPU and if the kernel is deterministic, a graph replay and a direct launch on that set.
std::vector<OrderRun> runs_of(const Kernel&, const Prepared&, const JudgeOptions&);

}  // namespace assay
