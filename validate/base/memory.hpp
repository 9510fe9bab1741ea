// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay {

// Bytes that a process may still take: the least of what the machine has free and what its control group leaves it.
std::size_t available_memory();

}  // namespace assay
