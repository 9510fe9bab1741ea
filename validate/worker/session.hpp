// SPDX-License-Identifier: Apache-2.0
// One order: the case's tensors in guarded device memory, the kernel run kRuns times, everything that should not have
// changed compared.  The outputs go back as they are: judging them is the parent's.
#pragma once

#include "validate/worker/backend.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// Throws Misdeed and BackendFinding.
Reply run_order(Backend&, const Op&, const Kernel&, const Order&, const Packing&, const SharedMemory& inputs,
                const SharedMemory& outputs);

}  // namespace assay
