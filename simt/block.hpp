// SPDX-License-Identifier: Apache-2.0
// The threads of the block that runs: who is ready, who waits for whom, and what stopped the launch.
// A thread gets a fiber when it starts and hands it to the next one when it ends, so that threads which never wait share
// one fiber and cost no switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "async.hpp"
#include "asynchronous.hpp"
#include "fiber.hpp"
#include "hooks.hpp"
#include "machine.hpp"
#include "mbarrier.hpp"
#include "register_pool.hpp"
#include "sectors.hpp"
#include "tensor_copy.hpp"
#include "trouble.hpp"
#include "watch.hpp"
#include "wgmma.hpp"

namespace simt::detail {

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr unsigned kWarpLanes = 32;
inline constexpr std::size_t kMaxSharedBytes = 227 * 1024;
inline constexpr std::size_t kNamedBarriers = 16;
inline constexpr int kTicks = 4096;  // accesses between two looks at the clock

struct Thread {
  device::uint3 index;
  unsigned id, lane;
  Fiber* fiber;          // null: not started, or ended
  std::uint64_t handed;  // by the last rendezvous
  Where where;           // of the last wait
  Meet kind;             // of it
  unsigned mask_or_id;
  int at_named;  // the named barrier it waits at; 0: none
};

// A rendezvous of a warp's lanes that some have reached.
struct Meeting {
  unsigned mask, arrived;
  Meet kind;
  Where where;
  std::uint64_t value[kWarpLanes];
  std::uint8_t source[kWarpLanes];
};

struct Warp {
  unsigned exists, exited;
  unsigned open;  // meetings
  Meeting meetings[kWarpLanes];
};

struct NamedBarrier {
  unsigned expected = 0, arrived = 0;  // threads; lanes that a partial warp lacks count as arrived with its first
  bool partial_came = false;
  Watch::Clocks clocks;  // of those that came by arrive_named
};

// Threads that are ready, first come first served but for warps that go on at the front.
class ReadyQueue {
 public:
  void clear() { head_ = tail_ = 0; }
  bool empty() const { return head_ == tail_; }
  void push_back(Thread* t) { ring_[tail_++ % kSize] = t; }
  void push_front(Thread* t) { ring_[--head_ % kSize] = t; }
  Thread* pop() { return empty() ? nullptr : ring_[head_++ % kSize]; }

 private:
  static constexpr unsigned kSize = 2 * kMaxThreads;
  Thread* ring_[kSize];
  unsigned head_ = 0, tail_ = 0;
};

struct Random {  // splitmix64
  std::uint64_t state = 0;
  std::uint64_t next();
  unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32) * n >> 32); }
};

struct Machine {
  Options options;
  Random random;
  const Grid* grid = nullptr;  // null: nothing runs
  double deadline = 0;
  unsigned threads = 0;  // of a block
  unsigned exited = 0;
  unsigned arrived = 0;  // at the block barrier
  bool mixed = false;    // arrivals from different calls
  Where first_arrival;
  Thread* current = nullptr;  // null: the launching stack
  Fiber main;
  Thread thread[kMaxThreads];
  Warp warp[kMaxThreads / kWarpLanes];
  NamedBarrier named[kNamedBarriers];
  ReadyQueue ready;
  SectorLog sectors;
  Copies copies;
  Watch watch;
  bool asynchronous = false;  // the block has used what the next five are for
  Guards guards;
  Barriers barriers;
  Boxes boxes;
  Wgmma wgmma;
  RegisterPool registers;
  const char* told_kind = "";
  std::string told;
  int slow_ticks = 0;      // slow accesses since the clock was looked at
  void* shared = nullptr;  // the arena
  std::uintptr_t shared_slot = 0;
  Trouble trouble;
  bool every_access() const { return options.count_sectors || options.watch || asynchronous; }  // goes through slow_access
};
extern Machine machine;

// Runs the block of blockIdx to its end, or until machine.trouble says why not.
void run_block();
void start_grid();  // the threads' indices, the warps
// Every access goes through slow_access while copies are in flight; the clock goes on as before.
void watch_accesses();
void unwatch_accesses();
// Waits until this thread is at the head of the queue.
void run_others();
void check_not_in_flight(std::uintptr_t address, unsigned bytes, bool write, Where where);  // in shared memory
FiberPool& fibers();
double now_s();
// Leaves the running fiber for good.
[[noreturn]] void stop(const Trouble& trouble);

// The finding of machine.trouble, told after the block has stopped.
Finding describe_trouble();
std::string describe(const device::uint3& i);

}  // namespace simt::detail
