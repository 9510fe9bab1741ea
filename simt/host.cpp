// SPDX-License-Identifier: Apache-2.0
// What the host asks of several parts at once.
#include "machine.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "sectors.hpp"
#include "watch.hpp"

namespace simt {

void configure(const Options& options) { detail::options = options; }

void release(void* p) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  detail::Allocation* const a = detail::find_allocation(begin);
  if (a == nullptr || !a->live || a->begin != begin) return;
  detail::watch.forget(detail::slot_of(*a), a->slots);
  detail::give_back(*a);
}

void reset_counts() noexcept {
  detail::sector_log.reset();
  detail::reset_allocations();
}

}  // namespace simt
