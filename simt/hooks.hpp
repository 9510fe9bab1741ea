// SPDX-License-Identifier: Apache-2.0
// What the device functions call in the machine.  Every counted access goes through access(): the slot of an address is
// address >> 32, so finding its allocation is one table lookup, and one compare per access checks both of its ends.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "where.hpp"

namespace simt::device {
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
}  // namespace simt::device

namespace simt::detail {

inline constexpr std::size_t kSlots = std::size_t{1} << 16;  // 4 GiB each: the 48 bits of a user address

struct alignas(64) Slot {
  std::uintptr_t begin;    // of the allocation
  std::uint64_t limit[5];  // an access of 2^k bytes may start at offsets below limit[k]; all 0: nothing lives here
  std::uint64_t read_bytes;
  std::uint64_t written_bytes;
};
extern Slot slots[kSlots];

struct Hot {
  std::int64_t ticks;       // accesses until the next slow one
  std::uintptr_t read_map;  // + address / 8: the byte whose bits say which bytes were read
  std::uintptr_t written_map;
  std::uintptr_t host_map;  // the bytes that the host vouches for
};
extern Hot hot;
extern int thread_number;  // x-major within the block, of the running thread

// An atomic operation is a read and then a write.
enum class Access : std::uint8_t { read, write, atomic_read, atomic_write };
constexpr bool is_write(Access kind) { return kind == Access::write || kind == Access::atomic_write; }

[[noreturn, gnu::cold]] void refuse(std::uintptr_t address, unsigned bytes, bool write, Where where);
// What is not done at every access: the clock, and, with `ticks` held below zero, races, sectors and the bytes in flight.
void slow_access(std::uintptr_t address, unsigned bytes, Access kind, Where where);
void tick(Where where);
void move(void* to, const void* from, std::size_t bytes);

template <std::size_t Bytes, Access Kind>
inline void access(const volatile void* p, Where where) {
  constexpr bool Write = is_write(Kind);
  static_assert(std::has_single_bit(Bytes) && Bytes <= 16, "one access moves 1, 2, 4, 8 or 16 bytes");
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t id = address >> 32;
  if (id >= kSlots || address - slots[id].begin >= slots[id].limit[std::countr_zero(Bytes)] || address % Bytes != 0) [[unlikely]]
    refuse(address, Bytes, Write, where);
  (Write ? slots[id].written_bytes : slots[id].read_bytes) += Bytes;
  auto* map = reinterpret_cast<unsigned char*>((Write ? hot.written_map : hot.read_map) + (address >> 3));
  if constexpr (Bytes == 16) map[0] = map[1] = 0xff;
  else if constexpr (Bytes == 8) map[0] = 0xff;
  else map[0] = static_cast<unsigned char>(map[0] | ((1u << Bytes) - 1u) << (address & 7));
  if (--hot.ticks < 0) [[unlikely]]
    slow_access(address, Bytes, Kind, where);
}

// The kinds of rendezvous of a block's threads.  Those of a warp meet by (mask, kind, call); from mma on by all its lanes.
// Behind ldmatrix, what else a thread may wait for (device_hopper.hpp).
enum class Meet : std::uint8_t { block, named, warp, shuffle, ballot, any, all, mma, ldmatrix, stmatrix, registers, barrier, wgmma };

void sync_block(Where where);
void sync_named(int id, int threads, Where where);
void arrive_named(int id, int threads, Where where);
// Returns what the kind hands to this lane: the value of lane `source`, or the outcome of the vote.
std::uint64_t meet_warp(Meet kind, std::uint64_t value, unsigned source, unsigned mask, Where where);
// What a warp's 32 lanes do together: each hands in what begins with one of these, and the last to come runs it for all.
struct WarpWork {
  void (*run)(WarpWork* const* lanes);
};
void work_together(Meet kind, WarpWork& mine, Where where);
void* shared_arena();

struct Grid {
  device::dim3 grid, block;
  std::size_t shared_bytes;
  void (*body)(const void* closure);  // one thread's run
  const void* closure;
  Where where;
  const void* stream = nullptr;
};
void run_grid(const Grid& grid);

}  // namespace simt::detail
