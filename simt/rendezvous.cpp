// SPDX-License-Identifier: Apache-2.0
// Where threads of a block wait for each other: the block barrier, named barriers, and the meetings of a warp's lanes.
#include <bit>
#include <utility>
#include <vector>

#include "dependent.hpp"
#include "findings.hpp"
#include "guards.hpp"
#include "scheduler.hpp"
#include "watch.hpp"

namespace simt::detail {

namespace {

// A rendezvous that some lanes of a warp have reached, but not all.
struct Meeting {
  unsigned mask, arrived;
  Meet kind;
  Where where;
  std::uint64_t value[kWarpLanes];
  std::uint8_t source[kWarpLanes];
};

struct Meetings {
  unsigned open;  // their number
  Meeting meetings[kWarpLanes];
};
Meetings meetings_of[kMaxThreads / kWarpLanes];  // [warp]

struct BlockBarrier {
  unsigned arrived = 0;  // threads
  bool mixed = false;    // they came from different calls
  Where first_arrival;
};
BlockBarrier block_barrier;

struct NamedBarrier {
  unsigned expected = 0, arrived = 0;  // threads; a partial warp counts as 32, as its first lane to come adds the lanes it lacks
  bool partial_came = false;
  bool late = false;     // a thread came by arrive_named that is not early
  Watch::Clocks clocks;  // of threads that came by arrive_named
};
NamedBarrier named_barriers[kNamedBarriers];

// Puts lanes of a warp at the front of the queue, before other warps, in the machine's order.
void ready_lanes(unsigned warp, unsigned lanes) {
  Thread* base = running_block.thread + warp * kWarpLanes;
  switch (options.order) {
    case ThreadOrder::forward:
      for (unsigned left = lanes; left != 0;) {
        const unsigned lane = 31u - static_cast<unsigned>(std::countl_zero(left));
        ready_queue.push_front(base + lane);
        left &= ~(1u << lane);
      }
      return;
    case ThreadOrder::reverse:
      for (unsigned left = lanes; left != 0; left &= left - 1) ready_queue.push_front(base + std::countr_zero(left));
      return;
    case ThreadOrder::shuffle: {
      const auto bits = static_cast<unsigned>(random_numbers.next() >> 32);
      for (unsigned i = 0; i < kWarpLanes; ++i) {
        const unsigned lane = ((i * (bits | 1u)) ^ bits >> 8) % kWarpLanes;
        if (lanes >> lane & 1u) ready_queue.push_front(base + lane);
      }
      return;
    }
  }
}

bool hands_values(Meet kind) { return kind != Meet::warp; }

[[noreturn, gnu::cold]] void refuse_meeting(Meet kind, unsigned source, unsigned mask, Where where) {
  using What = Trouble::What;
  const Thread& t = *running_thread;
  const WarpLanes& w = running_block.warp[t.id / kWarpLanes];
  Trouble trouble{.what = What::source_inactive, .where = where, .mask = mask, .lane = source, .kind = kind};
  const auto first_of = [](unsigned lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); };
  if ((mask >> t.lane & 1u) == 0) {
    trouble.what = What::caller_not_in_mask;
    trouble.lane = t.lane;
  } else if ((mask & ~w.exists) != 0) {
    trouble.what = What::lane_missing;
    trouble.lane = first_of(mask & ~w.exists);
  } else if ((mask & w.exited) != 0) {
    trouble.what = What::lane_exited;
    trouble.lane = first_of(mask & w.exited);
  }
  stop(trouble);
}

// Gives every lane its result of the rendezvous.
void hand_results(Thread* base, const Meeting& m) {
  const auto each_lane = [&m](auto f) {
    for (unsigned left = m.arrived; left != 0; left &= left - 1) f(std::countr_zero(left));
  };
  if (m.kind == Meet::shuffle) {
    each_lane([&](int lane) { base[lane].handed = m.value[m.source[lane]]; });
  } else if (m.kind >= Meet::butterfly) {
    WarpWork* lanes[kWarpLanes];
    each_lane([&](int lane) { lanes[lane] = reinterpret_cast<WarpWork*>(m.value[lane]); });
    for (const WarpWork* lane : lanes)
      if (lane->run != lanes[0]->run) stop({.what = Trouble::What::mixed_work, .where = m.where, .mask = m.mask, .kind = m.kind});
    lanes[0]->run(lanes);
  } else if (m.kind != Meet::warp) {
    unsigned votes = 0;
    each_lane([&](int lane) { votes |= static_cast<unsigned>(m.value[lane]) << lane; });
    const bool yes = m.kind == Meet::any ? votes != 0 : votes == m.arrived;
    each_lane([&](int lane) { base[lane].handed = m.kind == Meet::ballot ? votes : yes; });
  }
}

// Ends a rendezvous to which all have come, and makes its lanes ready.
void finish_meeting(unsigned warp, Meeting& m) {
  hand_results(running_block.thread + warp * kWarpLanes, m);
  // Note: the mask, not `arrived`, since lanes that have ended count as arrived.
  if (m.kind == Meet::warp) warp_synchronised(warp, m.mask);
  const unsigned lanes = m.arrived;
  Meetings& all = meetings_of[warp];
  Meeting& last = all.meetings[--all.open];
  if (&last != &m) m = last;
  ready_lanes(warp, lanes);
}

}  // namespace

void warp_synchronised(unsigned warp, unsigned lanes) {
  guards.synchronised();
  end_early_of_warp(warp, lanes);
  if (options.watch) watch.warp_barrier(warp, lanes);
}

void start_rendezvous() {
  for (unsigned w = 0; w * kWarpLanes < running_block.threads; ++w) meetings_of[w].open = 0;
  for (NamedBarrier& b : named_barriers) b = {};
  block_barrier.arrived = 0;
}

void leave_meetings(const Thread& t) {
  const unsigned warp = t.id / kWarpLanes;
  Meetings& all = meetings_of[warp];
  for (unsigned i = all.open; i-- > 0;) {
    Meeting& m = all.meetings[i];
    if ((m.mask >> t.lane & 1u) == 0) continue;
    if (hands_values(m.kind))
      stop({.what = Trouble::What::lane_left, .where = m.where, .mask = m.mask, .lane = t.lane, .kind = m.kind});
    if (((m.arrived | running_block.warp[warp].exited) & m.mask) == m.mask) finish_meeting(warp, m);
  }
}

void sync_block(Where where) {
  if (--hot.ticks < 0) tick(where);
  wait_as(Meet::block, 0, where);
  if (block_barrier.arrived == 0) {
    block_barrier.first_arrival = where;
    block_barrier.mixed = false;
  } else if (!same_site(block_barrier.first_arrival, where)) block_barrier.mixed = true;
  if (++block_barrier.arrived == running_block.threads) {
    if (block_barrier.mixed) stop({.what = Trouble::What::stuck});
    block_barrier.arrived = 0;
    guards.synchronised();
    end_early_of_block(false, 0);
    if (options.watch) watch.block_barrier();
    make_ready_if([](Thread&) { return true; });
  }
  run_others();
}

namespace {

// Counts the running thread at a named barrier; the first of a partial warp also counts for the lanes that the warp lacks.
void come_to_named(int id, int threads, bool waits, Where where) {
  if (--hot.ticks < 0) tick(where);
  const auto expected = static_cast<unsigned>(threads);
  if (id < 1 || id >= static_cast<int>(kNamedBarriers) || threads <= 0 || expected % kWarpLanes != 0)
    stop({.what = Trouble::What::bad_named_barrier, .where = where, .mask = expected, .lane = static_cast<unsigned>(id)});
  NamedBarrier& b = named_barriers[id];
  if (b.arrived != 0 && b.expected != expected)
    stop({.what = Trouble::What::named_barrier_size,
          .where = where,
          .bytes = b.expected,
          .mask = expected,
          .lane = static_cast<unsigned>(id)});
  Thread& t = *running_thread;
  if (waits) {
    t.at_named = id;
    wait_as(Meet::named, static_cast<unsigned>(id), where);
  } else {
    b.late = b.late || !t.early;
    if (options.watch) watch.release(t.id, b.clocks);
  }
  b.expected = expected;
  ++b.arrived;
  const unsigned tail = running_block.threads % kWarpLanes;
  if (tail != 0 && !b.partial_came && t.id / kWarpLanes == running_block.threads / kWarpLanes) {
    b.partial_came = true;
    b.arrived += kWarpLanes - tail;
  }
  if (b.arrived < b.expected) return;
  const NamedBarrier over = std::exchange(b, {});
  guards.synchronised();
  end_early_of_block(over.late, id);
  if (options.watch) {
    std::vector<std::uint16_t> members;
    for (unsigned i = 0; i < running_block.threads; ++i)
      if (running_block.thread[i].at_named == id) members.push_back(static_cast<std::uint16_t>(i));
    watch.named_barrier(members, over.clocks);
  }
  make_ready_if([id](Thread& other) {
    if (other.at_named != id) return false;
    other.at_named = 0;
    return true;
  });
}

}  // namespace

void sync_named(int id, int threads, Where where) {
  come_to_named(id, threads, true, where);
  run_others();
}
void arrive_named(int id, int threads, Where where) { come_to_named(id, threads, false, where); }

std::uint64_t meet_warp(Meet kind, std::uint64_t value, unsigned source, unsigned mask, Where where) {
  if (--hot.ticks < 0) [[unlikely]]
    tick(where);
  Thread& t = *running_thread;
  const unsigned warp = t.id / kWarpLanes;
  const WarpLanes& w = running_block.warp[warp];
  if (mask == 0xffffffffu && kind < Meet::butterfly) mask = w.exists;
  const bool values = hands_values(kind);
  const unsigned named = 1u << t.lane | (kind == Meet::shuffle ? 1u << source : 0u);
  if ((named & ~mask) != 0 || (mask & ~w.exists) != 0 || (values && (mask & w.exited) != 0)) [[unlikely]]
    refuse_meeting(kind, source, mask, where);

  Meetings& all = meetings_of[warp];
  Meeting* m = all.meetings;
  for (Meeting* end = m + all.open; m != end; ++m)
    if (m->mask == mask && m->kind == kind && same_site(m->where, where)) break;
  if (m == all.meetings + all.open) {
    ++all.open;
    m->mask = mask;
    m->kind = kind;
    m->where = where;
    m->arrived = 0;
  }
  m->arrived |= 1u << t.lane;
  m->value[t.lane] = value;
  m->source[t.lane] = static_cast<std::uint8_t>(source);
  wait_as(kind, mask, where);
  if (((m->arrived | (values ? 0u : w.exited)) & mask) == mask) finish_meeting(warp, *m);
  run_others();
  return t.handed;
}

void work_together(Meet kind, WarpWork& mine, Where where) {
  meet_warp(kind, reinterpret_cast<std::uintptr_t>(&mine), 0, 0xffffffffu, where);
}

}  // namespace simt::detail
