// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay {

// Bytes of memory that this process may still use: what the machine has free or what its control group allows, if that is less.
std::size_t available_memory();

// Makes this process, and each that it will start, fail to allocate before the machine runs out of memory.  If it runs out all
// the same, the system kills them and not the judge.  Note: the limit is one of private writable memory; neither memory that is
// shared nor address space that is only reserved counts.
void limit_memory();

}  // namespace assay
