// SPDX-License-Identifier: Apache-2.0
// When an access is slow: it looks at the clock, and lets other threads run, every kTicks accesses.  Where each access is checked
// or counted, each is slow, and the slow ones are counted instead.
#pragma once

#include "grid.hpp"
#include "options.hpp"
#include "threads.hpp"

namespace simt::detail {

inline constexpr int kTicks = 4096;  // accesses between two checks of the time limit

struct TimeLimit {
  double deadline = 0;  // of the launch, by now_s(); 0: none
  int slow_ticks = 0;   // slow accesses since it was last checked
};
inline TimeLimit time_limit;

double now_s();
void start_time_limit();  // called when a launch starts
inline bool past_deadline() { return time_limit.deadline != 0 && now_s() > time_limit.deadline; }

// Whether every access goes through slow_access(), but for copies in flight.
inline bool every_access() {
  return options.count_sectors || options.watch || running_block.asynchronous ||
         (running_launch.grid != nullptr && running_launch.grid->dependent);
}
// Between these two calls every access does; the time limit is still checked only every kTicks accesses.
void watch_accesses();
void unwatch_accesses();

}  // namespace simt::detail
