// SPDX-License-Identifier: Apache-2.0
// How much address space the machine reserves for its memory.
#pragma once

#include <cstddef>

namespace simt::detail {

inline constexpr std::size_t kSlotBytes = std::size_t{1} << 32;
inline constexpr std::size_t kLeastSlots = 64;

// How many slots to try first: as many as a limit of address space (ulimit -v) lets the rest of the process live with, else 4096.
std::size_t most_slots() noexcept;

}  // namespace simt::detail
