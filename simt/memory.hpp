// SPDX-License-Identifier: Apache-2.0
// Global memory: address space reserved once, cut into slots of 4 GiB; an allocation takes one slot, or several in a row.
// Slots and their committed pages are reused.  Two maps, one bit per byte, remember which bytes were read and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hooks.hpp"

namespace simt::detail {

// What is known of the allocation that a slot belongs, or last belonged, to.
struct Allocation {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t first = 0;  // slot, counted from the first one reserved
  std::size_t slots = 0;  // 0: never used
  bool live = false;
  bool vouched = false;            // the host marked some of it as written
  std::uint64_t requests[2] = {};  // read, written
  std::uint64_t sectors[2] = {};
};

// The allocation around an address, live or released; null if the address lies in no slot that was ever used.
Allocation* find_allocation(std::uintptr_t address) noexcept;

}  // namespace simt::detail
