// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp, and the warps of a block, wait for.
#include <algorithm>
#include <bit>
#include <utility>

#include "barriers.hpp"
#include "block_run.hpp"
#include "dependent.hpp"
#include "findings.hpp"
#include "guards.hpp"
#include "register_pool.hpp"
#include "scheduler.hpp"
#include "watch.hpp"
#include "wgmma.hpp"

namespace simt::ptx {

using detail::Meet;
using detail::options;
using detail::running_block;
using detail::running_thread;
using What = detail::Trouble::What;

namespace {
constexpr unsigned kGroupThreads = 128;  // of a warpgroup
constexpr unsigned kMostGivenUp = 64;
}  // namespace

std::uint32_t BlockRun::value_of(const WarpRun& s, Place p, std::uint32_t lanes) const {
  return s.warp.at<std::uint32_t>(p)[std::countr_zero(lanes)];
}

// The lanes that an instruction names, or all.  A full mask means all lanes that there are, but for matrices.
std::uint32_t BlockRun::members_of(const WarpRun& s, const Op& o, std::uint32_t lanes) const {
  const Place p = program_->lists[o.list];
  const std::uint32_t members = p == kNone ? 0xffffffffu : value_of(s, p, lanes);
  return members == 0xffffffffu && p != kNone ? s.exists : members;
}

void BlockRun::refuse_members(const WarpRun& s, const Op& o, std::uint32_t lanes, std::uint32_t members) const {
  const auto first = [](std::uint32_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); };
  detail::Trouble t{.what = What::lane_exited, .where = o.where, .mask = members, .kind = o.meet};
  running_thread = s.warp.thread + first(lanes);
  if ((lanes & ~members) != 0) {
    t.what = What::caller_not_in_mask;
    t.lane = first(lanes & ~members);
    running_thread = s.warp.thread + t.lane;
  } else if ((members & ~s.exists) != 0) {
    t.what = What::lane_missing;
    t.lane = first(members & ~s.exists);
  } else t.lane = first(members & ~s.warp.alive);
  detail::stop(t);
}

// Leaves a part with these lanes.  The others, which its instruction leaves out, go on without it.
void BlockRun::set_apart(WarpRun& s, Part& p, std::uint32_t lanes) {
  if (lanes == p.lanes) return;
  s.parts.push_back(p);
  s.parts.back().lanes = p.lanes & ~lanes;
  ++s.parts.back().at;
  p.lanes = lanes;
}

bool BlockRun::execute_together(WarpRun& s, Part& p, const Op& o, std::uint32_t lanes) {
  const std::uint32_t members = members_of(s, o, lanes);
  if ((lanes & ~members) != 0 || (members & ~s.warp.alive) != 0) refuse_members(s, o, lanes, members);
  if (lanes == members) {
    run_together(s, o, lanes);
    if (!served(s, o)) {
      p.wait = Wait::service;
      return false;
    }
    ++p.at;
    return true;
  }
  set_apart(s, p, lanes);
  p.wait = Wait::together;
  p.members = members;
  return false;
}

void BlockRun::run_together(WarpRun& s, const Op& o, std::uint32_t lanes) {
  if (o.flow == Flow::warpgroup) s.issued = detail::wgmma_products.issued(s.warp.thread->id / kGroupThreads);
  s.warp.execute(lanes);
  o.run(s.warp, o);
}

// Whether the other warps have done what an instruction needs that this one has executed.
bool BlockRun::served(const WarpRun& s, const Op& o) const {
  if (o.flow == Flow::warpgroup) return detail::wgmma_products.issued(s.warp.thread->id / kGroupThreads) != s.issued;
  return o.flow != Flow::registers || detail::register_pool.granted(s.warp.thread->id / kLanes);
}

// Whether a warp's first try at a phase fails, as it may on a GPU: the phase is not over, or nobody can know yet that it is,
// since copies have ended it and no thread has waited for them.  Who does not look at the outcome of a try is found so.
bool BlockRun::doubts(const Warp& w, const Op& o, std::uint32_t lanes, bool over) {
  const detail::Barrier& b = barrier_of(w, o, static_cast<unsigned>(std::countr_zero(lanes)));
  if (over && b.complete.empty()) return false;
  const std::size_t k = detail::memory_barriers.index(b) * warps_.size() + w.thread->id / kLanes;
  if (doubted_.size() <= k) doubted_.resize(k + 1);
  return std::exchange(doubted_[k], b.phase + 1) != b.phase + 1;
}

// Lets a part go on whose phase is over, or waits.  The lanes that the instruction leaves out go on alone then.
bool BlockRun::wait_for_phase(WarpRun& s, Part& p, const Op& o, std::uint32_t lanes) {
  const bool over = lanes_over(s.warp, o, lanes, true) == lanes;
  if (const bool doubt = doubts(s.warp, o, lanes, over); over || doubt) {
    end_wait(s.warp, o, lanes, doubt ? 0 : lanes);
    ++p.at;
    return true;
  }
  set_apart(s, p, lanes);
  p.wait = Wait::phase;
  return false;
}

// Gives up all waits at mbarriers, as a GPU does after a while.  Returns false if there are none, or if that has been of no use.
bool BlockRun::time_out() {
  if (detail::memory_barriers.events() != events_) {
    events_ = detail::memory_barriers.events();
    given_up_ = 0;
  }
  if (++given_up_ > kMostGivenUp) return false;
  bool any = false;
  for (WarpRun& s : warps_)
    for (Part& p : s.parts) {
      if (p.wait != Wait::phase) continue;
      const Op& o = program_->ops[p.at];
      end_wait(s.warp, o, p.lanes, lanes_over(s.warp, o, p.lanes, false));
      p.wait = Wait::none;
      ++p.at;
      any = true;
    }
  return any;
}

// Stops at an operation that touches an accumulator of a running wgmma.  Note: a register that was moved elsewhere may be
// written.
void BlockRun::check_accumulators(WarpRun& s, const Op& o, std::uint32_t lanes) {
  const unsigned group = s.warp.thread->id / kGroupThreads;
  if (!detail::wgmma_products.busy(group)) return;
  const auto op = static_cast<std::uint32_t>(&o - program_->ops.data());
  for (std::size_t k = o.careful; k < program_->careful.size() && program_->careful[k].op == op; ++k) {
    const Careful& c = program_->careful[k];
    const auto* const word = s.warp.at<std::uint32_t>(c.place);
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (!detail::wgmma_products.is_running(group, word[lane])) continue;
      unsigned copies = 0;
      for (Place p = kFirstRegister; c.write && p < program_->register_bytes; p += kVectorBytes)
        copies += s.warp.at<std::uint32_t>(p)[lane] == word[lane];
      if (copies > 1) continue;
      running_thread = s.warp.thread + lane;
      detail::stop_with("wgmma_registers",
                        c.write ? "an accumulator of a running wgmma is written" : "an accumulator of a running wgmma is read",
                        o.where);
    }
  }
}

bool BlockRun::warp_barrier(WarpRun& s, Part& p, const Op& o, std::uint32_t lanes) {
  const std::uint32_t members = members_of(s, o, lanes);
  if ((lanes & ~members) != 0 || (members & ~s.exists) != 0) {
    Op as_barrier = o;
    as_barrier.meet = Meet::warp;
    refuse_members(s, as_barrier, lanes, members);
  }
  if (lanes == (members & s.warp.alive)) {
    detail::warp_synchronised(static_cast<unsigned>(&s - warps_.data()), members);
    ++p.at;
    return true;
  }
  set_apart(s, p, lanes);
  p.wait = Wait::warp_barrier;
  p.members = members;
  return false;
}

// Lets go those parts of a warp whose companions have come.
void BlockRun::resolve(WarpRun& s) {
  bool waits = false;
  for (const Part& p : s.parts) waits = waits || (p.wait != Wait::none && p.wait != Wait::at_barrier);
  if (!waits) return;
  resolve_together(s);
  resolve_services(s);
  resolve_warp_barriers(s);
  resolve_barriers(s);
}

void BlockRun::resolve_together(WarpRun& s) {
  for (std::size_t k = 0; k < s.parts.size(); ++k) {
    const Part first = s.parts[k];
    if (first.wait != Wait::together) continue;
    const auto with = [&](const Part& p) { return p.wait == Wait::together && p.at == first.at && p.members == first.members; };
    std::uint32_t lanes = 0;
    for (const Part& p : s.parts)
      if (with(p)) lanes |= p.lanes;
    const Op& o = program_->ops[first.at];
    if ((first.members & ~s.warp.alive) != 0) {
      running_thread = s.warp.thread + std::countr_zero(first.lanes);
      const auto gone = static_cast<unsigned>(std::countr_zero(first.members & ~s.warp.alive));
      detail::stop({.what = What::lane_left, .where = o.where, .mask = first.members, .lane = gone, .kind = o.meet});
    }
    if (lanes != first.members) continue;
    s.warp.mask = 0;
    s.warp.full = false;
    run_together(s, o, lanes);
    for (Part& p : s.parts)
      if (with(p)) p.wait = Wait::service;
  }
}

void BlockRun::resolve_services(WarpRun& s) {
  for (Part& p : s.parts) {
    const Op& o = program_->ops[p.at];
    if (p.wait == Wait::service && served(s, o)) {
      p.wait = Wait::none;
      ++p.at;
    }
    if (p.wait != Wait::phase || lanes_over(s.warp, o, p.lanes, false) != p.lanes) continue;
    end_wait(s.warp, o, p.lanes, p.lanes);
    p.wait = Wait::none;
    ++p.at;
  }
}

void BlockRun::resolve_warp_barriers(WarpRun& s) {
  for (std::size_t k = 0; k < s.parts.size(); ++k) {
    if (s.parts[k].wait != Wait::warp_barrier) continue;
    const std::uint32_t members = s.parts[k].members;
    std::uint32_t lanes = 0;
    for (const Part& p : s.parts)
      if (p.wait == Wait::warp_barrier && p.members == members) lanes |= p.lanes;
    if ((lanes & members) != (members & s.warp.alive)) continue;
    detail::warp_synchronised(static_cast<unsigned>(&s - warps_.data()), members);
    for (Part& p : s.parts)
      if (p.wait == Wait::warp_barrier && p.members == members) {
        p.wait = Wait::none;
        ++p.at;
      }
  }
}

// A block's barrier counts whole warps: all living lanes must wait at one instruction.
void BlockRun::resolve_barriers(WarpRun& s) {
  for (std::size_t k = 0; k < s.parts.size(); ++k) {
    if (s.parts[k].wait != Wait::barrier) continue;
    const std::uint32_t at = s.parts[k].at;
    std::uint32_t lanes = 0;
    for (const Part& p : s.parts)
      if (p.wait == Wait::barrier && p.at == at) lanes |= p.lanes;
    if (lanes != s.warp.alive) continue;
    const unsigned id = value_of(s, program_->lists[program_->ops[at].list], lanes);
    for (Part& p : s.parts) {
      p.wait = Wait::at_barrier;
      p.barrier = id;
    }
    arrive(s, lanes, program_->ops[at], true);
    return;
  }
}

// Counts a warp at a barrier.
void BlockRun::arrive(WarpRun& s, std::uint32_t lanes, const Op& o, bool waits) {
  const Place of_threads = program_->lists[o.list + 1];
  const unsigned id = value_of(s, program_->lists[o.list], lanes), whole = static_cast<unsigned>(warps_.size()) * kLanes;
  const unsigned expected = of_threads == kNone ? whole : value_of(s, of_threads, lanes);
  running_thread = s.warp.thread + std::countr_zero(lanes);
  if (id >= detail::kNamedBarriers || expected == 0 || expected % kLanes != 0)
    detail::stop({.what = What::bad_named_barrier, .where = o.where, .mask = expected, .lane = id});
  Barrier& b = barriers_[id];
  if (b.arrived != 0 && b.expected != expected)
    detail::stop({.what = What::named_barrier_size, .where = o.where, .bytes = b.expected, .mask = expected, .lane = id});
  b.expected = expected;
  b.arrived += kLanes;
  for (std::uint32_t left = waits ? 0 : lanes; left != 0; left &= left - 1) {
    const detail::Thread& t = s.warp.thread[std::countr_zero(left)];
    b.late = b.late || !t.early;
    if (options.watch) detail::watch.release(t.id, b.clocks);
  }
  if (b.arrived >= b.expected) release(id);
}

void BlockRun::release(unsigned barrier) {
  const detail::Watch::Clocks clocks = std::move(barriers_[barrier].clocks);
  const bool late = barriers_[barrier].late;
  barriers_[barrier] = {};
  std::vector<std::uint16_t> members;
  for (WarpRun& s : warps_)
    for (Part& p : s.parts)
      if (p.wait == Wait::at_barrier && p.barrier == barrier) {
        for (std::uint32_t left = p.lanes; left != 0; left &= left - 1)
          members.push_back(static_cast<std::uint16_t>(s.warp.thread[std::countr_zero(left)].id));
        p.wait = Wait::none;
        ++p.at;
      }
  detail::guards.synchronised();
  detail::end_early(
      [&](auto f) {
        for (const std::uint16_t member : members) f(running_block.thread[member]);
      },
      late);
  if (!options.watch) return;
  if (members.size() == running_block.threads) detail::watch.block_barrier();
  else detail::watch.named_barrier(members, clocks);
}

// No part can go on: tells the machine who waits where.
void BlockRun::stuck() {
  detail::Fiber* const fiber = std::exchange(running_block.thread[0].fiber, nullptr);  // Note: the first thread may have ended
  for (WarpRun& s : warps_)
    for (const Part& p : s.parts) {
      const Op& o = program_->ops[p.at];
      const bool barrier = p.wait == Wait::barrier || p.wait == Wait::at_barrier;
      const unsigned id = barrier ? value_of(s, program_->lists[o.list], p.lanes) : 0;
      for (std::uint32_t left = p.lanes; left != 0; left &= left - 1) {
        detail::Thread& t = s.warp.thread[std::countr_zero(left)];
        t.fiber = fiber;
        t.where = o.where;
        t.kind = p.wait == Wait::phase          ? Meet::barrier
                 : p.wait == Wait::warp_barrier ? Meet::warp
                 : !barrier                     ? o.meet
                 : id == 0                      ? Meet::block
                                                : Meet::named;
        t.mask_or_id = barrier ? id
                       : p.wait == Wait::phase
                           ? static_cast<unsigned>(barrier_of(s.warp, o, static_cast<unsigned>(std::countr_zero(left))).offset)
                       : p.wait == Wait::service ? t.id / kGroupThreads
                                                 : p.members;
      }
    }
  detail::stop({.what = What::stuck});
}

}  // namespace simt::ptx
