// SPDX-License-Identifier: Apache-2.0
// The detector of races and of reads of memory that nobody wrote; every access reaches it when Options::watch is set.
// A race is two accesses of one byte by two threads of a launch, at least one a write and not both atomic, that nothing orders.
// Barriers of all kinds, sync_warp and the end of a launch order accesses.  Shuffles, votes, mma and ldmatrix do not.  Blocks of
// one launch are never ordered.  The detector compares vector clocks (FastTrack, Flanagan and Freund 2009) and not the turns that
// threads take here, so it finds a race in any order of the threads.
// A cell keeps its last write and two reads, from different warps if possible.  Note: with named barriers, or sync_warp of parts
// of a warp, a third reader may go unseen in some orders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hooks.hpp"
#include "trouble.hpp"

namespace simt::detail {

// One access: clock << 28 | atomic << 27 | call << 10 | thread.  0: no access.
using Stamp = std::uint64_t;

class Watch {
 public:
  void start_launch(unsigned threads);
  void start_block();
  // Returns the block's first read of bytes that nobody had written, or What::none; sets `thread` to its reader.  Note: it is
  // reported only at the end of the block.  A missing barrier may let the reader run before the writer; the race then says more.
  const Trouble& uninitialised(unsigned& thread) const {
    thread = uninitialised_by_;
    return uninitialised_;
  }
  void block_barrier() {
    barrier_ = ++clock_;
    crossed_ = false;
  }
  void warp_barrier(unsigned warp, unsigned lanes);
  // `threads`: those that waited.  `arrived`: the clocks of those that came by arrive_named.
  void named_barrier(const std::vector<std::uint16_t>& threads, const std::vector<std::uint64_t>& arrived);

  // The bytes that the next access stores, if it is a plain write; null: unknown.  A write of the bytes that are there already is
  // no race with the write that left them, if nobody has read them since.
  void expect(const std::byte* stored) { stored_ = stored; }
  // Records an access of the running thread, within one allocation.  Stops the launch at a race.
  void access(std::uintptr_t address, unsigned bytes, Access kind, Where where);
  // Records reads of the lanes of a warp, whose first thread is `first`, as access() does one by one; all lie in one allocation.
  void read_by_lanes(unsigned first, std::uint32_t lanes, const std::uint64_t* at, unsigned bytes, Where where);
  // Records a cp_async of `thread` as a write made at its wait.
  void landed(unsigned thread, std::uintptr_t address, unsigned bytes, Where where);
  // With Options::replicated: an atomic operation by one thread of a warp, which releases what its block has done before it to
  // the blocks that meet at this address later (1), acquires what others have released there (2), or both.  Blocks run one after
  // the other, so that a block which comes later reads what an earlier one stored.
  void meet_blocks(std::uintptr_t address, unsigned how);
  void forget(std::size_t slot, std::size_t count);  // a released allocation, by its slots

  // "thread (1, 0, 0) of block (0, 0, 0) (KERNEL.cu:12)"
  std::string describe(Stamp s) const;

  // --- Asynchronous work (watch_async.cpp).  The watch treats its sources as further threads, called engines and numbered after
  // the threads.  Barriers order their accesses: clocks are released into a barrier and acquired from it.
  using Clocks = std::vector<std::uint64_t>;  // [thread or engine]: its accesses up to this clock are ordered before
  static constexpr unsigned kEngines = 64;
  unsigned engine(unsigned n) const { return engines_ + n % kEngines; }
  bool room_for_engines() const { return engines_ + kEngines <= kThreads; }
  std::uint64_t advance() { return ++clock_; }
  void release(unsigned thread, Clocks& into);
  void acquire(unsigned thread, const Clocks& from);
  void know(unsigned thread, unsigned engine, std::uint64_t until);
  void release(unsigned engine, std::uint64_t until, Clocks& into) const;
  void fence(unsigned thread);  // engines may read what the thread has written so far, and what is ordered before
  // Stops the launch unless work on these bytes, begun now by `thread`, is ordered after the accesses that it conflicts with.
  void begin(unsigned thread, std::uintptr_t address, unsigned bytes, bool write, Where where);
  void done(unsigned engine, std::uint64_t at, std::uintptr_t address, unsigned bytes, bool write, Where where);

 private:
  struct Cell {
    Stamp write, read, other;  // other: an earlier read, of another block or warp than `read` if there was one
  };
  struct Release {
    void operator()(Cell* cells) const;
  };
  struct Shadow {
    std::uintptr_t base = 0;  // 16-byte aligned
    std::size_t bytes = 0;
    unsigned shift = 0;  // a cell covers 2^shift bytes, the size of the smallest access so far
    std::unique_ptr<Cell[], Release> cells{};
  };
  static constexpr unsigned kClockShift = 28, kCallShift = 10, kCalls = 1u << 17;
  static constexpr Stamp kAtomic = Stamp{1} << 27, kThreadMask = 1023;
  static constexpr unsigned kThreads = 1024, kLanes = 32;

  static std::uint64_t clock_of(Stamp s) { return s >> kClockShift; }
  static unsigned thread_of(Stamp s) { return static_cast<unsigned>(s & kThreadMask); }
  const Shadow& shadow_at(std::uintptr_t address, unsigned shift);
  const Shadow& make_shadow(std::uintptr_t address, unsigned shift);
  static void refine(Shadow& s, unsigned shift);
  Stamp stamp(unsigned thread, Where where);
  unsigned call(Where where);
  unsigned new_call(Where where);
  bool ordered(Stamp s, unsigned me) const;
  unsigned distance(Stamp s, unsigned me) const;
  void note_read(Cell& c, Stamp mine, Stamp floor) const;
  template <class Meet>
  void read_cells(Cell* c, const Cell* end, Stamp mine, Stamp floor, Meet meet) const;
  template <class Meet>
  void write_cells(Cell* c, const Cell* end, std::size_t cell, std::uintptr_t address, Stamp mine, Meet meet);
  template <class Meet>
  void update_cells(Cell* c, const Cell* end, Stamp mine, Stamp floor, Meet meet) const;
  void check_initialised(std::uintptr_t address, unsigned bytes, unsigned thread, Where where);
  void join_across(const std::uint16_t* threads, std::size_t count);
  void cross();
  std::uint64_t known(unsigned me, unsigned other) const;
  bool released(Stamp earlier) const;
  bool forgiven(const Trouble& race) const;
  bool fenced(Stamp write, unsigned me) const;

  std::uint64_t clock_ = 1;                             // grows by one at every synchronisation
  std::uint64_t launch_ = 1, block_ = 1, barrier_ = 1;  // clocks at the start of launch and block, at the last block barrier
  unsigned threads_ = 0, engines_ = 0, width_ = 0;      // threads of a block; number of the first engine; one past the last
  unsigned stamped_ = ~0u;                              // cache of stamp(): its last thread, the clock at that call, the result
  std::uint64_t stamped_at_ = 0;
  Stamp stamp_clock_ = 0;
  bool crossed_ = false;                                  // across_ is in use: warps synchronised since the last block barrier
  std::array<std::uint64_t, kThreads> own_{};             // [thread] clock of its last other synchronisation or fence
  std::array<std::uint64_t, kThreads / kLanes> warp_{};   // [warp] clock of its last sync_warp by all lanes
  std::array<std::uint64_t, kThreads * kLanes> known_{};  // [thread][lane of its warp] accesses up to it are ordered before
  std::vector<std::uint64_t> across_;                     // [thread][thread or engine] the same, while `crossed_`
  std::vector<std::uint64_t> joined_;
  std::vector<std::vector<std::uint64_t>> fences_;    // [thread] clocks of its fences in this block
  std::vector<std::vector<std::uint64_t>> at_fence_;  // [thread][thread] what it knew at its last fence

  std::vector<std::unique_ptr<Shadow>> shadows_;  // at an allocation's first slot
  std::vector<Shadow*> of_slot_;
  struct KnownCall {
    std::uintptr_t key = 0;
    unsigned number = 0;
  };
  std::array<KnownCall, 1024> recent_{};
  std::vector<Where> calls_;
  struct BlockStart {
    std::uint64_t clock;
    device::uint3 index;
  };
  std::vector<BlockStart> blocks_;  // of this launch
  struct Released {  // accesses of the block that began at clock `block`: those before `until`, by `thread` those to `own`
    std::uint64_t block, until, own;
    unsigned thread;
  };
  std::unordered_map<std::uintptr_t, std::vector<Released>> released_;  // by address, in the order of blocks; of this launch
  std::vector<std::pair<const std::vector<Released>*, std::size_t>> acquired_;  // how much of each this block has acquired
  const std::byte* stored_ = nullptr;                                           // of expect()
  Trouble uninitialised_;
  unsigned uninitialised_by_ = 0;
};

extern Watch watch;

// Whether each of these bytes was written by a kernel or marked as written by the host.
bool initialised(std::uintptr_t address, unsigned bytes);

}  // namespace simt::detail
