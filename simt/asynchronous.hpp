// SPDX-License-Identifier: Apache-2.0
// When a block begins asynchronous work: barriers in memory, tensor copies, wgmma, changes of registers.
#pragma once

#include "where.hpp"

namespace simt::detail {

// The words that begin asynchronous work, and fences, call it.  From the block's first such call on, every access goes through
// slow_access(), and so does every access of the blocks of the launch that run later.
void use_asynchronous(Where where);
void start_asynchronous();  // called when a block starts

}  // namespace simt::detail
