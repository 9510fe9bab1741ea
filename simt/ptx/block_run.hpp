// SPDX-License-Identifier: Apache-2.0
// Executes a block's warps.  The lanes of a warp run in *parts*: the lanes that are at one instruction.  A branch that divides
// its lanes makes two parts, which join at the immediate post-dominator.  Parts and warps take turns, so that one which waits for
// another, in a loop or at a barrier, lets it run.
#pragma once

#include <deque>
#include <vector>

#include "scheduler.hpp"
#include "warp.hpp"
#include "watch.hpp"

namespace simt::ptx {

// Where lanes that diverged meet again.
struct Meeting {
  std::uint32_t at = kNone;  // operation
  std::uint32_t expected = 0, arrived = 0;
  Meeting* outer = nullptr;
};

// phase: for an mbarrier; service: for other warps to do what an instruction needs besides.
enum class Wait : std::uint8_t { none, together, warp_barrier, barrier, at_barrier, phase, service };

struct Part {
  std::uint32_t at = 0;  // operation
  std::uint32_t lanes = 0;
  Meeting* meeting = nullptr;
  Wait wait = Wait::none;
  std::uint32_t members = 0;  // of an instruction that lanes execute together
  unsigned barrier = 0;
};

struct WarpRun {
  Warp warp;
  std::uint32_t exists = 0;
  std::vector<Part> parts;
  std::uint64_t issued = 0;  // by its warpgroup, before it came to a wgmma
  unsigned spins = 0;        // turns that ended before their parts stopped
};

class BlockRun {
 public:
  // Once a launch, before its first block.  Program and parameters stay valid until its last.
  void prepare(const Program& program, const std::byte* parameters);
  void run();  // on a fiber of the machine

 private:
  struct Barrier {
    unsigned expected = 0, arrived = 0;  // threads, in whole warps
    bool late = false;                   // one that came by bar.arrive is not early (threads.hpp)
    detail::Watch::Clocks clocks{};      // of those that came by bar.arrive
  };

  void set_constant(LaunchConstant which, std::uint32_t value);  // in all lanes
  void set_constants_of_launch();
  void start_block();
  void start_warp(unsigned number);
  bool turn(WarpRun& s);
  void go(WarpRun& s, std::size_t part);
  bool control(WarpRun& s, Part& p, const Op& o);
  bool meet(WarpRun& s, Part& p);
  void branch(WarpRun& s, Part& p, const Op& o, std::uint32_t taken);
  void part_company(WarpRun& s);
  bool leave(WarpRun& s, Part& p, std::uint32_t lanes);
  void set_apart(WarpRun& s, Part& p, std::uint32_t lanes);
  bool execute_together(WarpRun& s, Part& p, const Op& o, std::uint32_t lanes);
  bool warp_barrier(WarpRun& s, Part& p, const Op& o, std::uint32_t lanes);
  bool doubts(const Warp& w, const Op& o, std::uint32_t lanes, bool over);
  bool wait_for_phase(WarpRun& s, Part& p, const Op& o, std::uint32_t lanes);
  void run_together(WarpRun& s, const Op& o, std::uint32_t lanes);
  bool served(const WarpRun& s, const Op& o) const;
  void check_accumulators(WarpRun& s, const Op& o, std::uint32_t lanes);
  bool time_out();
  void resolve(WarpRun& s);
  void resolve_together(WarpRun& s);
  void resolve_services(WarpRun& s);
  void resolve_warp_barriers(WarpRun& s);
  void resolve_barriers(WarpRun& s);
  void arrive(WarpRun& s, std::uint32_t lanes, const Op& o, bool waits);
  void release(unsigned barrier);
  std::uint32_t members_of(const WarpRun& s, const Op& o, std::uint32_t lanes) const;
  std::uint32_t value_of(const WarpRun& s, Place p, std::uint32_t lanes) const;
  [[noreturn]] void refuse_members(const WarpRun& s, const Op& o, std::uint32_t lanes, std::uint32_t members) const;
  [[noreturn]] void stuck();

  const Program* program_ = nullptr;
  std::vector<std::uint64_t> memory_;  // registers of all warps, then constants
  std::vector<std::byte> local_;
  std::byte* constants_ = nullptr;
  std::vector<WarpRun> warps_;
  std::deque<Meeting> meetings_;  // a deque, so that their addresses stay valid
  std::vector<Meeting*> free_;
  Barrier barriers_[detail::kNamedBarriers];
  std::uint64_t turns_ = 0;
  std::uint64_t events_ = 0;            // at mbarriers, when a wait was last given up
  unsigned given_up_ = 0;               // waits since then
  std::vector<std::uint64_t> doubted_;  // by mbarrier and warp: one more than the phase at which a try has failed
};

}  // namespace simt::ptx
