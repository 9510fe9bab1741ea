// SPDX-License-Identifier: Apache-2.0
// Races, and reads of what nobody wrote.  A race is two accesses of one byte by two threads of a launch, at least one of them
// a write, not both atomic, that nothing orders.  What orders: block and named barriers, sync_warp, the end of a launch; not
// shuffles, votes, mma or ldmatrix.  Blocks of one launch are never ordered.  Threads here take turns, so each access meets
// the earlier ones of its bytes; whether it is ordered after them is asked of clocks (vector clocks as in FastTrack, Flanagan
// and Freund 2009) and not of the turns, so that a race is found in any order of the threads.
// A cell keeps its last write and two reads, of two warps if there were two.  Note: with named barriers, or sync_warp of parts
// of a warp, a third reader that alone is not ordered may go unseen in some orders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hooks.hpp"
#include "trouble.hpp"

namespace simt::detail {

// Who, by which call, and when: clock << 28 | atomic << 27 | call << 10 | thread.  0: nobody.
using Stamp = std::uint64_t;

class Watch {
 public:
  void start_launch(unsigned threads);
  void start_block();
  // The first read of the block that met what nobody had written, and its thread; What::none where there was none.  Note: told
  // only here, for where a barrier is missing the reader may run before the writer, and then it is the race that tells more.
  const Trouble& uninitialised(unsigned& thread) const { return thread = uninitialised_by_, uninitialised_; }
  void block_barrier() { barrier_ = ++clock_, crossed_ = false; }
  void warp_barrier(unsigned warp, unsigned lanes);
  // `arrived`: released by those that came without waiting.
  void named_barrier(const std::vector<std::uint16_t>& threads, const std::vector<std::uint64_t>& arrived);

  // The running thread accesses bytes that lie within an allocation.
  void access(std::uintptr_t address, unsigned bytes, Access kind, Where where);
  // An asynchronous copy of `thread` is complete as of its wait.
  void landed(unsigned thread, std::uintptr_t address, unsigned bytes, Where where);
  void forget(std::size_t slot, std::size_t count);  // the allocation that was there

  // "thread (1, 0, 0) of block (0, 0, 0), KERNEL.cu:12"
  std::string describe(Stamp s) const;

  // --- Work that goes on by itself (watch_async.cpp).  Engines, which do it, are numbered behind the threads; nothing orders what
  // they do but clocks that are handed on: released into a barrier, acquired out of it.
  using Clocks = std::vector<std::uint64_t>;  // by thread and engine: until then all that it did comes before
  static constexpr unsigned kEngines = 64;
  unsigned engine(unsigned n) const { return engines_ + n % kEngines; }
  bool room_for_engines() const { return engines_ + kEngines <= kThreads; }
  std::uint64_t advance() { return ++clock_; }
  void release(unsigned thread, Clocks& into);
  void acquire(unsigned thread, const Clocks& from);
  void know(unsigned thread, unsigned engine, std::uint64_t until);
  void release(unsigned engine, std::uint64_t until, Clocks& into) const;
  void fence(unsigned thread);  // what the thread has written is for engines too
  // `thread` begins work by which an engine will read or write these bytes: it has to come after what was done to them.
  void begin(unsigned thread, std::uintptr_t address, unsigned bytes, bool write, Where where);
  void done(unsigned engine, std::uint64_t at, std::uintptr_t address, unsigned bytes, bool write, Where where);

 private:
  struct Cell {
    Stamp write, read, other;  // other: a reader as far from `read` as there was one
  };
  struct Release {
    void operator()(Cell* cells) const;
  };
  struct Shadow {
    std::uintptr_t base = 0;  // 16-byte aligned
    std::size_t bytes = 0;
    unsigned shift = 0;  // a cell is 2^shift bytes: as many as the smallest access so far
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
  void join_across(const std::uint16_t* threads, std::size_t count);
  void cross();
  std::uint64_t known(unsigned me, unsigned other) const;
  bool fenced(Stamp write, unsigned me) const;

  std::uint64_t clock_ = 1;                             // one more with every synchronisation
  std::uint64_t launch_ = 1, block_ = 1, barrier_ = 1;  // when these began; the last barrier of the whole block
  unsigned threads_ = 0, engines_ = 0, width_ = 0;       // of a block; the first engine's number; behind the last one's
  unsigned stamped_ = ~0u;  // the thread that was stamped last, when, and as what
  std::uint64_t stamped_at_ = 0;
  Stamp stamp_clock_ = 0;
  bool crossed_ = false;                                  // a named barrier since the last of the whole block
  std::array<std::uint64_t, kThreads> own_{};             // when a thread last synchronised with part of its warp, or by name
  std::array<std::uint64_t, kThreads / kLanes> warp_{};   // when a whole warp last did
  std::array<std::uint64_t, kThreads * kLanes> known_{};  // [thread][lane of its warp]: of that lane all before is ordered
  std::vector<std::uint64_t> across_;                     // [thread][thread or engine] the same, while `crossed_`
  std::vector<std::uint64_t> joined_;
  std::vector<std::vector<std::uint64_t>> fences_;        // by thread, when it fenced in this block

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
  Trouble uninitialised_;
  unsigned uninitialised_by_ = 0;
};

// Whether the host marked, or a kernel wrote, each of these bytes.
bool initialised(std::uintptr_t address, unsigned bytes);

}  // namespace simt::detail
