// SPDX-License-Identifier: Apache-2.0
// The state of the machine and the scheduler of the running block: which threads are ready, which wait, what stopped the launch.
// A thread gets a fiber when it starts and hands it to the next thread when it ends.  Threads that never wait thus share one
// fiber and cost no switch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
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
extern bool sees_plain;              // accesses without ld and st are findings
inline constexpr int kTicks = 4096;  // accesses between two checks of the time limit

struct Thread {
  device::uint3 index;
  unsigned id, lane;
  Fiber* fiber;          // null if not started, or ended
  std::uint64_t handed;  // result of the last rendezvous
  Where where;           // source line of the last wait
  Meet kind;             // of the last wait
  unsigned mask_or_id;
  int at_named;  // the named barrier that the thread waits at, or 0
  bool early;    // it is not ordered after a wait for the launch before this one, which may still run
};

// A rendezvous that some lanes of a warp have reached, but not all.
struct Meeting {
  unsigned mask, arrived;
  Meet kind;
  Where where;
  std::uint64_t value[kWarpLanes];
  std::uint8_t source[kWarpLanes];
};

struct Warp {
  unsigned exists, exited;
  unsigned open;  // number of meetings
  Meeting meetings[kWarpLanes];
};

struct NamedBarrier {
  unsigned expected = 0, arrived = 0;  // threads; a partial warp counts as 32, as its first lane to come adds the lanes it lacks
  bool partial_came = false;
  bool late = false;     // a thread came by arrive_named that is not early
  Watch::Clocks clocks;  // of threads that came by arrive_named
};

// Ready threads, first in, first out; lanes that leave a warp's rendezvous go to the front.
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
  const Grid* grid = nullptr;  // null if nothing runs
  bool whole_block = false;    // the grid's body runs all threads of a block, on the fiber of the first (ptx/block_run.cpp)
  double deadline = 0;
  unsigned threads = 0;  // of a block
  unsigned exited = 0;
  unsigned arrived = 0;  // at the block barrier
  bool mixed = false;    // arrivals from different calls
  Where first_arrival;
  Thread* current = nullptr;  // null on the launching stack
  Fiber main;
  Thread thread[kMaxThreads];
  Warp warp[kMaxThreads / kWarpLanes];
  NamedBarrier named[kNamedBarriers];
  ReadyQueue ready;
  SectorLog sectors;
  Copies copies;
  Watch watch;
  bool asynchronous = false;       // the block has used one of the next five, or
  bool asynchronous_grid = false;  // an earlier one of the launch has
  Guards guards;
  Barriers barriers;
  Boxes boxes;
  Wgmma wgmma;
  RegisterPool registers;
  const char* reported_kind = "";
  std::string reported;
  int slow_ticks = 0;      // slow accesses since the time limit was last checked
  void* shared = nullptr;  // the arena
  std::uintptr_t shared_slot = 0;
  Trouble trouble;
  Trouble suspicion;  // of suspected(), with the block and the thread
  device::uint3 suspected_block;
  Thread* suspected_thread = nullptr;
  std::unique_ptr<Finding> suspected;
  bool anyone_waited = false;  // a thread of this launch has, for the launch before it
  bool every_access() const {  // goes through slow_access
    return options.count_sectors || options.watch || asynchronous || (grid != nullptr && grid->dependent);
  }
};
extern Machine machine;

// Runs the block blockIdx until all its threads have ended or machine.trouble is set.
void run_block();
void start_grid();  // sets the threads' indices and the warps
// Between these two calls every access goes through slow_access; the time limit is still checked only every kTicks accesses.
void watch_accesses();
void unwatch_accesses();
// Lets the other ready threads run; returns when this thread is at the head of the queue.
void run_others();
void check_not_in_flight(std::uintptr_t address, unsigned bytes, bool write, Where where);  // of an access to shared memory
FiberPool& fibers();
double now_s();
// Sets machine.trouble and leaves the running fiber for good.  Called by the host, it throws Fault.
[[noreturn]] void stop(const Trouble& trouble);

// Checks an access to global memory by a thread of a dependent launch.
void check_early(std::uintptr_t address, unsigned bytes, bool write, Where where);

// Threads of a dependent launch have synchronised.  A wait for the launch before makes its writes visible to the whole grid (PTX,
// griddepcontrol), so if one of them is ordered after a wait, now all are.  each(f) calls f for each thread; `late`: one that has
// gone on without waiting here was.
template <class Each>
void end_early(Each each, bool late = false) {
  if (!machine.grid->dependent) return;
  each([&](Thread& t) { late = late || !t.early; });
  if (late) each([](Thread& t) { t.early = false; });
}
// The block's threads at a named barrier, or for 0 those at none: at a block barrier all.
inline void end_early_of_block(bool late, int named) {
  end_early(
      [=](auto f) {
        for (unsigned i = 0; i < machine.threads; ++i)
          if (machine.thread[i].at_named == named) f(machine.thread[i]);
      },
      late);
}
inline void end_early_of_warp(unsigned warp, unsigned lanes) {
  end_early([=](auto f) {
    for (unsigned left = lanes; left != 0; left &= left - 1)
      f(machine.thread[warp * kWarpLanes + static_cast<unsigned>(std::countr_zero(left))]);
  });
}

// Makes the finding of machine.trouble; called after the block has stopped.
Finding describe_trouble();
std::string describe(const device::uint3& i);
// "read of 4 bytes at byte 0 of 'x' (128 bytes)"
std::string access_at(std::uintptr_t address, unsigned bytes, bool write);

}  // namespace simt::detail
