// SPDX-License-Identifier: Apache-2.0
// The functions and variables of the machine that the device layer uses.  Every counted access goes through access().  The slot
// of an address is address >> 32, so one table lookup finds its allocation, and one comparison checks both ends of the access.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

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

inline constexpr std::size_t kSlots = std::size_t{1} << 16;  // of 4 GiB each, for the 48 bits of a user address

struct alignas(64) Slot {
  std::uintptr_t begin;    // of the allocation
  std::uint64_t limit[5];  // an access of 2^k bytes may start at offsets below limit[k]; all 0 without a live allocation
  std::uint64_t read_bytes;
  std::uint64_t written_bytes;
};
extern Slot slots[kSlots];

struct Hot {
  std::int64_t ticks;       // accesses until the next slow one
  std::uintptr_t read_map;  // read_map + address / 8 is the byte whose bits say which bytes were read
  std::uintptr_t written_map;
  std::uintptr_t host_map;  // of bytes that the host has marked as written
};
extern Hot hot;
extern int thread_number;  // index of the running thread in its block, x-major

// An atomic operation is a read and then a write.
enum class Access : std::uint8_t { read, write, atomic_read, atomic_write };
constexpr bool is_write(Access kind) { return kind == Access::write || kind == Access::atomic_write; }

[[noreturn, gnu::cold]] void refuse(std::uintptr_t address, unsigned bytes, bool write, Where where);
// Checks the time limit.  While `ticks` is below 0, every access calls it: it checks races and bytes in flight, counts sectors.
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

// What a thread may wait for.  The lanes of a warp meet by mask, kind and call; from butterfly on, all 32 take part.  The kinds
// after ldmatrix belong to device_hopper.hpp.
enum class Meet : std::uint8_t {
  block,
  named,
  warp,
  shuffle,
  ballot,
  any,
  all,
  butterfly,
  mma,
  ldmatrix,
  stmatrix,
  registers,
  barrier,
  wgmma
};

void sync_block(Where where);
void sync_named(int id, int threads, Where where);
void arrive_named(int id, int threads, Where where);
// Waits for the lanes of `mask`.  Returns the value of lane `source`, or the outcome of the vote.
std::uint64_t meet_warp(Meet kind, std::uint64_t value, unsigned source, unsigned mask, Where where);
// Work of all 32 lanes of a warp.  Each lane passes a struct that begins with a WarpWork; the last to come calls run() for all.
struct WarpWork {
  void (*run)(WarpWork* const* lanes);
};
void work_together(Meet kind, WarpWork& mine, Where where);
void wait_for_previous_grid(Where where);
void* shared_arena();
inline bool in_shared_memory(const void* p) {  // shared memory has a slot to itself
  return (reinterpret_cast<std::uintptr_t>(p) ^ reinterpret_cast<std::uintptr_t>(shared_arena())) >> 32 == 0;
}
inline float flushed(float v) { return std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0f, v) : v; }
inline float add_flushing(float a, float b) { return flushed(flushed(a) + flushed(b)); }

struct Grid {
  device::dim3 grid, block;
  std::size_t shared_bytes;
  void (*body)(const void* closure);  // runs one thread
  const void* closure;
  Where where;
  const void* stream = nullptr;
  bool dependent = false;  // it may begin before the launch before it has ended
};
void run_grid(const Grid& grid);

}  // namespace simt::detail
