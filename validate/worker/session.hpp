// SPDX-License-Identifier: Apache-2.0
// Executes one order in a worker: places its tensors in guarded device memory, makes its runs, and checks that nothing but the
// outputs has changed.  The judge judges the outputs.
#pragma once

#include "validate/worker/backend.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// Throws SideEffect and BackendFinding if the kernel is at fault, another std::exception if the order cannot be executed.
Reply run_order(Backend&, const Op&, const Kernel&, const Order&, const SharedMemory& inputs, const SharedMemory& outputs);

}  // namespace assay
