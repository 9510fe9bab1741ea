// SPDX-License-Identifier: Apache-2.0
// The address space that the machine reserves for its memory, and its pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt::detail {

inline constexpr std::size_t kSlotBytes = std::size_t{1} << 32;
inline constexpr std::size_t kLeastSlots = 64;
inline constexpr std::size_t kPage = std::size_t{1} << 16;  // unit of commitment; a multiple of every page size in use

// How many slots to try first: as many as a limit of address space (ulimit -v) lets the rest of the process live with, else 4096.
std::size_t most_slots() noexcept;
// Reserves address space without pages; MAP_FAILED if there is none.
void* map_nothing(std::size_t bytes);
// Drops pages, so that an access to them faults.
void close_pages(std::uintptr_t begin, std::uintptr_t end) noexcept;
// Makes the pages of these bytes accessible.  Throws OutOfMemory.
void open_pages(std::uintptr_t begin, std::uintptr_t end);

}  // namespace simt::detail
