// SPDX-License-Identifier: Apache-2.0
#include "block_run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "asynchronous.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "tensor_maps.hpp"
#include "ticks.hpp"

namespace simt::ptx {

using detail::Meet;
using detail::options;
using detail::running_block;
using detail::running_launch;
using detail::running_thread;
using What = detail::Trouble::What;

namespace {

constexpr int kTurn = 16384;                                  // operations that a part runs before others get a turn
constexpr unsigned kPatience = 64;                            // turns after which lanes at a meeting wait no longer
constexpr std::uint64_t kMostTurns = std::uint64_t{1} << 24;  // of a launch: 2^38 operations

std::uint32_t lane_bits(unsigned n) { return n >= kLanes ? 0xffffffffu : (1u << n) - 1; }

}  // namespace

void BlockRun::prepare(const Program& program, const std::byte* parameters) {
  program_ = &program;
  const device::dim3& b = running_launch.grid->block;
  const unsigned threads = b.x * b.y * b.z, warps = (threads + kLanes - 1) / kLanes;
  const std::size_t of_warp = (program.register_bytes + 63) / 64 * 8, of_constants = program.constants.size() / 2 + 8;
  memory_.assign(of_warp * warps + of_constants + 8, 0);
  local_.assign(program.local_bytes * warps * kLanes, std::byte{0xff});
  auto* start = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory_.data()) + 63) / 64 * 64);
  constants_ = start + of_warp * 8 * warps;
  warps_.resize(warps);
  set_constants_of_launch();
  turns_ = 0;
  forget_maps(true);
  for (unsigned k = 0; k < warps; ++k) {
    Warp& w = warps_[k].warp;
    w.base[0] = start + of_warp * 8 * k;
    w.base[1] = constants_;
    w.local = local_.data() + program.local_bytes * kLanes * k;
    w.program = &program;
    w.parameters = parameters;
  }
}

void BlockRun::set_constant(LaunchConstant which, std::uint32_t value) {
  std::fill_n(reinterpret_cast<std::uint32_t*>(constants_ + which * kVectorBytes), kLanes, value);
}

void BlockRun::set_constants_of_launch() {
  const detail::Grid& grid = *running_launch.grid;
  std::memcpy(constants_, program_->constants.data(), program_->constants.size() * 4);
  set_constant(kNTidX, grid.block.x);
  set_constant(kNTidY, grid.block.y);
  set_constant(kNTidZ, grid.block.z);
  set_constant(kNCtaIdX, grid.grid.x);
  set_constant(kNCtaIdY, grid.grid.y);
  set_constant(kNCtaIdZ, grid.grid.z);
  set_constant(kNWarpId, static_cast<std::uint32_t>(warps_.size()));
  set_constant(kDynamicShared, static_cast<std::uint32_t>(grid.shared_bytes - program_->dynamic_at));
  for (unsigned i = 0; i < kLanes; ++i) {
    auto* const lane = reinterpret_cast<std::uint32_t*>(constants_) + i;
    const std::uint32_t bit = 1u << i, masks[] = {bit, bit - 1, bit | (bit - 1), ~(bit | (bit - 1)), ~(bit - 1)};
    lane[kLaneId * kLanes] = i;
    for (unsigned k = 0; k < 5; ++k) lane[(kLaneMasks + k) * kLanes] = masks[k];
  }
}

void BlockRun::start_block() {
  set_constant(kCtaIdX, device::blockIdx.x);
  set_constant(kCtaIdY, device::blockIdx.y);
  set_constant(kCtaIdZ, device::blockIdx.z);
  std::fill(local_.begin(), local_.end(), std::byte{0xff});
  meetings_.clear();
  free_.clear();
  for (Barrier& b : barriers_) b = {};
  for (unsigned k = 0; k < warps_.size(); ++k) start_warp(k);
  events_ = 0;
  given_up_ = 0;
  doubted_.clear();
  forget_maps(false);
  if (program_->asynchronous) detail::use_asynchronous(program_->ops[0].where);
}

void BlockRun::start_warp(unsigned number) {
  WarpRun& s = warps_[number];
  const unsigned first = number * kLanes;
  s.exists = lane_bits(running_block.threads - first);
  s.warp.thread = running_block.thread + first;
  s.warp.alive = s.exists;
  s.warp.mask = 0;
  s.warp.full = false;
  for (unsigned i = 0; i < kLanes && first + i < running_block.threads; ++i) {
    const device::uint3& at = s.warp.thread[i].index;
    s.warp.at<std::uint32_t>(kTidX)[i] = at.x;
    s.warp.at<std::uint32_t>(kTidY)[i] = at.y;
    s.warp.at<std::uint32_t>(kTidZ)[i] = at.z;
    s.warp.at<std::uint32_t>(kWarpId)[i] = number;
  }
  s.parts.assign(1, Part{0, s.exists, nullptr, Wait::none, 0, 0});
}

void BlockRun::run() {
  start_block();
  std::vector<unsigned> order(warps_.size());
  for (unsigned k = 0; k < order.size(); ++k)
    order[k] = options.order == ThreadOrder::reverse ? static_cast<unsigned>(order.size()) - 1 - k : k;
  for (bool any = true; any;) {
    bool ran = false;
    any = false;
    if (options.order == ThreadOrder::shuffle)
      for (unsigned k = static_cast<unsigned>(order.size()); k > 1; --k)
        std::swap(order[k - 1], order[detail::random_numbers.below(k)]);
    for (const unsigned k : order) {
      if (warps_[k].parts.empty()) continue;
      any = true;
      ran = turn(warps_[k]) || ran;
    }
    if (any && !ran && !detail::land_one_copy() && !time_out()) stuck();
  }
  running_thread = running_block.thread;  // the machine ends the block as if this thread were the last one
  running_block.exited = running_block.threads - 1;
}

// Lets each part of a warp that can go on have its turn.  Returns whether any had one.
bool BlockRun::turn(WarpRun& s) {
  bool ran = false;
  for (;;) {
    bool now = false;
    for (std::size_t k = 0; k < s.parts.size(); ++k)
      if (s.parts[k].wait == Wait::none && s.parts[k].lanes != 0) {
        now = true;
        go(s, k);
      }
    std::erase_if(s.parts, [](const Part& p) { return p.lanes == 0; });
    resolve(s);
    now = now || std::any_of(s.parts.begin(), s.parts.end(), [](const Part& p) { return p.wait == Wait::none; });
    ran = ran || now;
    // Note: parts that are left could all go on, and spin until another warp has had its turn.
    if (!now || std::any_of(s.parts.begin(), s.parts.end(), [](const Part& p) { return p.wait == Wait::none; })) {
      if (++turns_ > kMostTurns || ((turns_ & 63) == 0 && detail::past_deadline())) {
        running_thread = s.warp.thread;
        detail::stop({.what = What::time_limit, .where = s.parts.empty() ? Where{} : program_->ops[s.parts[0].at].where});
      }
      return ran;
    }
    if (s.parts.empty()) return ran;
  }
}

void BlockRun::go(WarpRun& s, std::size_t part) {
  Warp& w = s.warp;
  Part p = s.parts[part];
  s.parts[part].lanes = 0;  // until it stops
  w.mask = 0;
  w.full = false;
  w.execute(p.lanes);
  const Op* const ops = program_->ops.data();
  for (int left = kTurn; left > 0; --left) {
    const Op& o = ops[p.at];
    if (o.flow == Flow::plain) [[likely]] {
      ++p.at;
      if (o.guard == 0) {
        o.run(w, o);
        continue;
      }
      const std::uint32_t lanes = p.lanes & (w.lanes_of(o.guard) ^ (o.guard_negated ? 0xffffffffu : 0u));
      if (lanes == 0) continue;
      w.execute(lanes);
      o.run(w, o);
      w.execute(p.lanes);
      continue;
    }
    if (!control(s, p, o)) break;
    w.execute(p.lanes);
  }
  if (p.lanes == 0) return;
  s.parts[part] = p;
  if (p.wait == Wait::none && ++s.spins % kPatience == 0) part_company(s);
}

// Executes what is more than work on registers and memory.  Returns false if the part stops here.
bool BlockRun::control(WarpRun& s, Part& p, const Op& o) {
  if (o.flow == Flow::join) return meet(s, p);
  std::uint32_t lanes = p.lanes;
  if (o.guard != 0) lanes &= s.warp.lanes_of(o.guard) ^ (o.guard_negated ? 0xffffffffu : 0u);
  if (o.flow == Flow::branch) {
    branch(s, p, o, lanes);
    return true;
  }
  if (lanes == 0) {
    ++p.at;
    return true;
  }
  if (o.careful != kNone) check_accumulators(s, o, lanes);
  switch (o.flow) {
    case Flow::careful:
      s.warp.execute(lanes);
      o.run(s.warp, o);
      ++p.at;
      return true;
    case Flow::phase: return wait_for_phase(s, p, o, lanes);
    case Flow::exit: return leave(s, p, lanes);
    case Flow::trap:
      running_thread = s.warp.thread + std::countr_zero(lanes);
      detail::stop_with("trap", "the kernel executes `trap`", o.where);
    case Flow::warpgroup:
    case Flow::registers:
    case Flow::together: return execute_together(s, p, o, lanes);
    case Flow::warp_barrier: return warp_barrier(s, p, o, lanes);
    case Flow::arrival:
      arrive(s, lanes, o, false);
      ++p.at;
      return true;
    default: break;
  }
  // A barrier: the whole warp comes to it.
  set_apart(s, p, lanes);
  p.wait = Wait::barrier;
  return false;
}

bool BlockRun::meet(WarpRun&, Part& p) {
  Meeting* const m = p.meeting;
  if (m == nullptr || m->at != p.at) {
    ++p.at;
    return true;
  }
  m->arrived |= p.lanes;
  if (m->arrived != m->expected) {
    p.lanes = 0;
    return false;
  }
  p.lanes = m->arrived;
  p.meeting = m->outer;
  free_.push_back(m);
  return true;
}

void BlockRun::branch(WarpRun& s, Part& p, const Op& o, std::uint32_t taken) {
  if (taken == p.lanes || taken == 0) {
    p.at = taken != 0 ? o.target : p.at + 1;
    return;
  }
  if (o.meets != kNone && (p.meeting == nullptr || p.meeting->at != o.meets)) {
    if (free_.empty()) free_.push_back(&meetings_.emplace_back());
    Meeting* const m = free_.back();
    free_.pop_back();
    *m = {o.meets, p.lanes, 0, p.meeting};
    p.meeting = m;
  }
  Part other = p;
  other.at = o.target;
  other.lanes = taken;
  p.lanes &= ~taken;
  ++p.at;
  if (options.order != ThreadOrder::forward) std::swap(p, other);
  s.parts.push_back(other);
}

// Lets lanes that wait at a meeting go on alone: the others may spin until these have done something.
void BlockRun::part_company(WarpRun& s) {
  for (std::size_t k = 0, parts = s.parts.size(); k < parts; ++k) {
    if (s.parts[k].lanes == 0) continue;  // its lanes have met others, and that meeting may be over
    for (Meeting* m = s.parts[k].meeting; m != nullptr; m = m->outer) {
      if (m->arrived == 0) continue;
      m->expected &= ~m->arrived;
      s.parts.push_back({m->at, m->arrived, m->outer, Wait::none, 0, 0});
      m->arrived = 0;
    }
  }
}

// Ends threads.  Those that wait for them at a meeting wait for the others alone.
bool BlockRun::leave(WarpRun& s, Part& p, std::uint32_t lanes) {
  s.warp.alive &= ~lanes;
  running_block.warp[&s - warps_.data()].exited |= lanes;
  running_block.exited += static_cast<unsigned>(std::popcount(lanes));
  p.lanes &= ~lanes;
  for (Meeting* m = p.meeting; m != nullptr;) {
    Meeting* const outer = m->outer;
    m->expected &= ~lanes;
    if (m->expected != 0 && m->arrived == m->expected) {
      s.parts.push_back({m->at, m->arrived, outer, Wait::none, 0, 0});
      m->arrived = 0;
      m->expected = 0xffffffffu;  // no lane comes here any more
    }
    m = outer;
  }
  s.warp.mask = 0;
  s.warp.full = false;
  if (p.lanes != 0) ++p.at;
  return p.lanes != 0;
}

}  // namespace simt::ptx
