// SPDX-License-Identifier: Apache-2.0
// The machine's global memory.  Its address space is reserved once and cut into slots of 4 GiB; an allocation takes one slot, or
// several in a row.  Three maps, one bit a byte, record which bytes kernels read, kernels wrote and the host marked as written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hooks.hpp"
#include "machine.hpp"

namespace simt::detail {

// The allocation that a slot belongs to, or last belonged to.
struct Allocation {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t first = 0;  // its first slot, counted from the first one reserved
  std::size_t slots = 0;  // 0 if never used
  bool live = false;
  std::vector<Extent> extents{};   // one: all of it; several: its parts that have pages
  bool vouched = false;            // host_map may have bits of it set: the host has marked bytes as written
  std::uint64_t requests[2] = {};  // read, written
  std::uint64_t sectors[2] = {};
};

// Returns the allocation, live or released, in whose slots an address lies; null if that slot was never used.
Allocation* find_allocation(std::uintptr_t address) noexcept;
std::size_t slot_of(const Allocation& a) noexcept;  // its first, of addresses
void give_back(Allocation& a) noexcept;
// Resets the counts of all allocations; what kernels have written stays written.
void reset_allocations() noexcept;

inline constexpr std::size_t kLead = std::size_t{1} << 28;  // bytes before and after an allocation, so that strays hit its slots

// Returns the address of the bytes of global memory whose bits lie in a byte of a map; the address itself if it is in no map.
std::uintptr_t behind_map(std::uintptr_t address) noexcept;
// Returns the live allocation that ends or begins least far from an address; null if there is none.
const Allocation* nearest_allocation(std::uintptr_t address) noexcept;
// Returns the live allocation that has memory where the address would be if an offset of elements had not been cut to 32 bits
// with a sign; null if there is none.  `bytes`: of the access, which says how large an element may be.
const Allocation* cut_offset_of(std::uintptr_t address, unsigned bytes) noexcept;

// Opens the allocations that are taken from the host, while a launch runs.
class OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

}  // namespace simt::detail
