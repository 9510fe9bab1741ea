// SPDX-License-Identifier: Apache-2.0
// What an access does that hooks.hpp does not do inline: it is refused, or each part that checks or counts accesses sees it.
#include <cstring>

#include "arena.hpp"
#include "async.hpp"
#include "dependent.hpp"
#include "findings.hpp"
#include "guards.hpp"
#include "hooks.hpp"
#include "options.hpp"
#include "sectors.hpp"
#include "threads.hpp"
#include "ticks.hpp"
#include "watch.hpp"

namespace simt::detail {

void refuse(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  stop({.what = Trouble::What::access, .where = where, .address = address, .bytes = bytes, .write = write});
}

void move(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void slow_access(std::uintptr_t address, unsigned bytes, Access kind, Where where) {
  const Thread* t = running_thread;
  const bool write = is_write(kind);
  if (is_shared(address) && async_copies.in_flight()) check_not_in_flight(address, bytes, write, where);
  if (is_shared(address) && running_block.asynchronous) check_guards(address, bytes, write, where);
  if (t != nullptr && t->early && !is_shared(address)) check_early(address, bytes, write, where);
  if (options.watch && t != nullptr) watch.access(address, bytes, kind, where);
  if (options.count_sectors && t != nullptr) count_access(address, bytes, write, where);
  if (every_access() && ++time_limit.slow_ticks < kTicks) return;
  tick(where);
}

}  // namespace simt::detail
