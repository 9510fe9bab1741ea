// SPDX-License-Identifier: Apache-2.0
// The shared memory of the running block: an allocation of exactly the bytes that the launch asked for (launch.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt::detail {

inline constexpr std::size_t kMaxSharedBytes = 227 * 1024;
inline constexpr std::size_t kArenaBytes = 228 * 1024;

struct SharedMemory {
  void* begin = nullptr;
  std::uintptr_t slot = 0;  // of addresses
};
inline SharedMemory shared_memory;

inline std::uintptr_t arena_begin() { return reinterpret_cast<std::uintptr_t>(shared_memory.begin); }
inline bool is_shared(std::uintptr_t address) { return address >> 32 == shared_memory.slot; }
inline bool is_shared(const void* p) { return is_shared(reinterpret_cast<std::uintptr_t>(p)); }
// In bytes from the arena's begin, of an address in it.
inline std::size_t arena_offset(std::uintptr_t address) { return address - arena_begin(); }
inline std::size_t arena_offset(const void* p) { return arena_offset(reinterpret_cast<std::uintptr_t>(p)); }

}  // namespace simt::detail
