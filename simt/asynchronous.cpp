// SPDX-License-Identifier: Apache-2.0
#include "asynchronous.hpp"

#include "arena.hpp"
#include "async.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "guards.hpp"
#include "options.hpp"
#include "ticks.hpp"
#include "watch.hpp"

namespace simt::detail {

void use_asynchronous(Where where) {
  if (running_block.asynchronous) return;
  if (running_thread == nullptr) stop_with("bad_launch", "the host called a word of the device layer", where);
  if (options.watch && !watch.room_for_engines())
    stop_with("bad_launch", "barriers, tensor copies and wgmma are watched in blocks of up to 960 threads", where);
  running_launch.asynchronous = true;
  start_asynchronous();
  const std::uintptr_t map = hot.written_map + arena_begin() / 8;
  for (std::size_t i = 0; i < (running_launch.grid->shared_bytes + 7) / 8; ++i)
    if (*reinterpret_cast<const std::uint8_t*>(map + i) != 0) guards.wrote(8 * i, 8, Guards::unknown);
}

void start_asynchronous() {
  if (!running_launch.asynchronous) return;
  if (!async_copies.in_flight()) watch_accesses();
  running_block.asynchronous = true;
}

}  // namespace simt::detail
