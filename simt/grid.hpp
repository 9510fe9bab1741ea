// SPDX-License-Identifier: Apache-2.0
// The launch that runs: what its blocks have in common.
#pragma once

#include "hooks.hpp"

namespace simt::detail {

struct Launch {
  const Grid* grid = nullptr;  // null if nothing runs
  bool whole_block = false;    // the grid's body runs all threads of a block, on the fiber of the first (ptx/block_run.cpp)
  bool asynchronous = false;   // a block has used a word of asynchronous.hpp
  bool anyone_waited = false;  // a thread has, for the launch before this one
};
inline Launch running_launch;

}  // namespace simt::detail
