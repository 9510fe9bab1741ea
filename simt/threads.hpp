// SPDX-License-Identifier: Apache-2.0
// The block that runs: its threads and warps, and which thread runs.  Their turns are the scheduler's (scheduler.hpp).
#pragma once

#include <cstdint>

#include "fiber.hpp"
#include "hooks.hpp"
#include "where.hpp"

namespace simt::detail {

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr unsigned kWarpLanes = 32;

struct Thread {
  device::uint3 index;
  unsigned id, lane;
  Fiber* fiber;          // null if not started, or ended
  std::uint64_t handed;  // result of the last rendezvous
  Where where;           // source line of the last wait
  Meet kind;             // of the last wait
  unsigned mask_or_id;
  int at_named;  // the named barrier that the thread waits at, or 0
  bool early;    // it is not ordered after a wait for the launch before this one, which may still run
};

struct WarpLanes {
  unsigned exists, exited;  // bits of lanes
};

struct Block {
  unsigned threads;
  unsigned exited;    // threads that have ended
  bool asynchronous;  // it has used a word of asynchronous.hpp, or an earlier block of the launch has
  WarpLanes warp[kMaxThreads / kWarpLanes];
  Thread thread[kMaxThreads];
};
inline Block running_block;
inline Thread* running_thread = nullptr;  // null on the launching stack
inline Fiber launching_stack;

// Notes what the running thread waits for, for the finding in case it waits for ever.
inline void wait_as(Meet kind, unsigned mask_or_id, const Where& where) {
  Thread& t = *running_thread;
  t.kind = kind;
  t.mask_or_id = mask_or_id;
  t.where = where;
}

}  // namespace simt::detail
