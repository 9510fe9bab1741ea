// SPDX-License-Identifier: Apache-2.0
// Dependent launches, which may begin before the launch before them has ended: a thread is early until it is ordered after a wait
// for that one.
#pragma once

#include <bit>
#include <cstdint>

#include "grid.hpp"
#include "threads.hpp"

namespace simt::detail {

// Checks an access to global memory by a thread that is early.
void check_early(std::uintptr_t address, unsigned bytes, bool write, Where where);

// Threads of a dependent launch have synchronised.  A wait for the launch before makes its writes visible to the whole grid (PTX,
// griddepcontrol), so if one of them is ordered after a wait, now all are.  each(f) calls f for each thread; `late`: one that has
// gone on without waiting here was.
template <class Each>
void end_early(Each each, bool late = false) {
  if (!running_launch.grid->dependent) return;
  each([&](Thread& t) { late = late || !t.early; });
  if (late) each([](Thread& t) { t.early = false; });
}
// The block's threads at a named barrier, or for 0 those at none: at a block barrier all.
inline void end_early_of_block(bool late, int named) {
  end_early(
      [=](auto f) {
        for (unsigned i = 0; i < running_block.threads; ++i)
          if (running_block.thread[i].at_named == named) f(running_block.thread[i]);
      },
      late);
}
inline void end_early_of_warp(unsigned warp, unsigned lanes) {
  end_early([=](auto f) {
    for (unsigned left = lanes; left != 0; left &= left - 1)
      f(running_block.thread[warp * kWarpLanes + static_cast<unsigned>(std::countr_zero(left))]);
  });
}

}  // namespace simt::detail
