// SPDX-License-Identifier: Apache-2.0
#include "ticks.hpp"

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace simt::detail {

double now_s() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void start_time_limit() {
  time_limit.deadline = options.time_limit_s > 0 ? now_s() + options.time_limit_s : 0;
  hot.ticks = every_access() ? -1 : kTicks;
  time_limit.slow_ticks = 0;
}

void watch_accesses() {
  if (every_access()) return;
  time_limit.slow_ticks = kTicks - static_cast<int>(std::max<std::int64_t>(hot.ticks, 0));
  hot.ticks = -1;
}

void unwatch_accesses() {
  if (every_access()) return;
  hot.ticks = std::max(kTicks - time_limit.slow_ticks, 0);
  time_limit.slow_ticks = 0;
}

}  // namespace simt::detail
