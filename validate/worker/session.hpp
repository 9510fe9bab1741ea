// SPDX-License-Identifier: Apache-2.0
// One order: its tensors in guarded device memory, the kernel run as often as it says, everything that should not have changed
// compared.  The outputs go back as they are: judging them is the judge's.
#pragma once

#include "validate/worker/backend.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// Throws Misdeed and BackendFinding.
Reply run_order(Backend&, const Op&, const Kernel&, const Order&, const SharedMemory& inputs, const SharedMemory& outputs);

}  // namespace assay
