// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay {

// Bytes of memory that this process may still use: what the machine has free or what its control group allows, if that is less.
std::size_t available_memory();

}  // namespace assay
