// SPDX-License-Identifier: Apache-2.0
// Waits at barriers in shared memory, as block_run.cpp makes them.
#pragma once

#include "mbarrier.hpp"
#include "warp.hpp"

namespace simt::ptx {

// The lanes of `lanes` whose phase is over.  `comes`: they have just come, so that copies which land at a wait do.
std::uint32_t lanes_over(Warp& w, const Op& o, std::uint32_t lanes, bool comes);
// Ends the wait of these lanes.  Those of `over` may touch what has landed; for the others the instruction fails.
void end_wait(Warp& w, const Op& o, std::uint32_t lanes, std::uint32_t over);
detail::Barrier& barrier_of(const Warp& w, const Op& o, unsigned lane);

}  // namespace simt::ptx
