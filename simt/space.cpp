// SPDX-License-Identifier: Apache-2.0
#include "space.hpp"

#include <sys/resource.h>

#include "machine.hpp"

namespace simt::detail {

namespace {

// The limit of address space with which so many slots and their maps are reserved: a quarter is left to the rest of the process.
constexpr std::size_t limit_for(std::size_t slots) {
  return ((slots + 1) * kSlotBytes + slots * kSlotBytes / 8 * 3) / 3 * 4;
}

}  // namespace

std::size_t most_slots() noexcept {
  rlimit allowed{};
  const bool limited = getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY;
#if defined(SIMT_FEW_SLOTS)
  std::size_t slots = kLeastSlots;  // ThreadSanitizer leaves a program 1.5 TiB
#else
  std::size_t slots = 4096;
#endif
  while (limited && slots >= kLeastSlots && limit_for(slots) > allowed.rlim_cur) slots /= 2;
  return slots;
}

}  // namespace simt::detail

namespace simt {

std::size_t least_address_space() noexcept { return detail::limit_for(detail::kLeastSlots); }

}  // namespace simt
