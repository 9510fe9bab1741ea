// SPDX-License-Identifier: Apache-2.0
#include "block.hpp"

#include <time.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace simt::device {
uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
}  // namespace simt::device

namespace simt::detail {

Machine machine;
Hot hot;
bool sees_plain = false;
int thread_number;

namespace {

// Sets the running thread and its built-in variables.
void become(Thread* t) {
  machine.current = t;
  device::threadIdx = t->index;
  thread_number = static_cast<int>(t->id);
}

// Takes the next ready thread.  If there is none, delayed copies land one by one until there is; null if none is left.
Thread* next_ready() {
  for (;;) {
    if (Thread* const t = machine.ready.pop()) return t;
    if (machine.exited == machine.threads || !machine.boxes.land_one()) return nullptr;
  }
}

void wait_as(Meet kind, unsigned mask_or_id, const Where& where) {
  Thread& t = *machine.current;
  t.kind = kind;
  t.mask_or_id = mask_or_id;
  t.where = where;
}

// Puts lanes of a warp at the front of the queue, before other warps, in the machine's order.
void ready_lanes(unsigned warp, unsigned lanes) {
  Thread* base = machine.thread + warp * kWarpLanes;
  switch (machine.options.order) {
    case ThreadOrder::forward:
      for (unsigned left = lanes; left != 0;) {
        const unsigned lane = 31u - static_cast<unsigned>(std::countl_zero(left));
        machine.ready.push_front(base + lane);
        left &= ~(1u << lane);
      }
      return;
    case ThreadOrder::reverse:
      for (unsigned left = lanes; left != 0; left &= left - 1) machine.ready.push_front(base + std::countr_zero(left));
      return;
    case ThreadOrder::shuffle: {
      const auto bits = static_cast<unsigned>(machine.random.next() >> 32);
      for (unsigned i = 0; i < kWarpLanes; ++i) {
        const unsigned lane = ((i * (bits | 1u)) ^ bits >> 8) % kWarpLanes;
        if (lanes >> lane & 1u) machine.ready.push_front(base + lane);
      }
      return;
    }
  }
}

// Puts the threads for which takes_part(thread) holds at the end of the queue, in the machine's order.
template <class Predicate>
void ready_threads(Predicate takes_part) {
  std::uint16_t ids[kMaxThreads];
  unsigned n = 0;
  for (unsigned i = 0; i < machine.threads; ++i)
    if (takes_part(machine.thread[i])) ids[n++] = static_cast<std::uint16_t>(i);
  const ThreadOrder order = machine.options.order;
  if (order == ThreadOrder::shuffle)
    for (unsigned i = n; i > 1; --i) std::swap(ids[i - 1], ids[machine.random.below(i)]);
  for (unsigned i = 0; i < n; ++i) machine.ready.push_back(machine.thread + ids[order == ThreadOrder::reverse ? n - 1 - i : i]);
}

bool hands_values(Meet kind) { return kind != Meet::warp; }

[[noreturn, gnu::cold]] void refuse_meeting(Meet kind, unsigned source, unsigned mask, Where where) {
  using What = Trouble::What;
  const Thread& t = *machine.current;
  const Warp& w = machine.warp[t.id / kWarpLanes];
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

// Gives every lane its result of the rendezvous and makes it ready.
void finish_meeting(Warp& w, Meeting& m) {
  const auto warp = static_cast<unsigned>(&w - machine.warp);
  Thread* base = machine.thread + warp * kWarpLanes;
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
  const unsigned lanes = m.arrived;
  // Note: the mask, not `arrived`, since lanes that have ended count as arrived.
  if (m.kind == Meet::warp) {
    machine.guards.synchronised();
    end_early_of_warp(warp, m.mask);
  }
  if (m.kind == Meet::warp && machine.options.watch) machine.watch.warp_barrier(warp, m.mask);
  Meeting& last = w.meetings[--w.open];
  if (&last != &m) m = last;
  ready_lanes(warp, lanes);
}

// Removes an ended lane from its warp's rendezvous: a sync_warp may now be complete; any other kind is a finding.
void leave_meetings(Warp& w, const Thread& t) {
  for (unsigned i = w.open; i-- > 0;) {
    Meeting& m = w.meetings[i];
    if ((m.mask >> t.lane & 1u) == 0) continue;
    if (hands_values(m.kind))
      stop({.what = Trouble::What::lane_left, .where = m.where, .mask = m.mask, .lane = t.lane, .kind = m.kind});
    if (((m.arrived | w.exited) & m.mask) == m.mask) finish_meeting(w, m);
  }
}

// The entry function of every fiber: runs the current thread, then the next ones as long as they have no fiber yet.
[[noreturn]] void fiber_main() {
  entered_fiber();
  for (;;) {
    machine.grid->body(machine.grid->closure);
    Thread& t = *machine.current;
    Fiber* mine = std::exchange(t.fiber, nullptr);
    if (!canary_intact(*mine)) stop({.what = Trouble::What::stack_overflow});
    ++machine.exited;
    Warp& w = machine.warp[t.id / kWarpLanes];
    w.exited |= 1u << t.lane;
    if (w.open != 0) leave_meetings(w, t);
    Thread* next = next_ready();
    Fiber* to = &machine.main;
    if (next != nullptr) {
      become(next);
      if (next->fiber == nullptr) {
        next->fiber = mine;
        continue;
      }
      to = next->fiber;
    } else {
      machine.current = nullptr;
    }
    fibers().give(mine);
    switch_fiber(*mine, *to);
  }
}

}  // namespace

void run_others() {
  Thread* self = machine.current;
  Thread* next = next_ready();
  if (next == self) return;
  if (next == nullptr) stop({.what = Trouble::What::stuck});
  become(next);
  if (next->fiber == nullptr) next->fiber = fibers().take();
  switch_fiber(*self->fiber, *next->fiber);
}

std::uint64_t Random::next() {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

FiberPool& fibers() {
  static FiberPool pool(fiber_main);
  return pool;
}

double now_s() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void stop(const Trouble& trouble) {
  machine.trouble = trouble;
  if (machine.current == nullptr) throw Fault(describe_trouble());  // the host called a device function
  Fiber lost;
  switch_fiber(machine.current->fiber != nullptr ? *machine.current->fiber : lost, machine.main);
  std::abort();  // not reached: nobody switches back to an abandoned fiber
}

void refuse(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  stop({.what = Trouble::What::access, .where = where, .address = address, .bytes = bytes, .write = write});
}

void move(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

// Note: a thread yields after many accesses, so that one which spins on memory lets the other threads of its block run.
void tick(Where where) {
  const bool every_access = machine.every_access() || machine.copies.in_flight();
  if (every_access && ++machine.slow_ticks < kTicks) return;
  machine.slow_ticks = 0;
  hot.ticks = every_access ? -1 : kTicks;
  if (machine.current == nullptr) return;
  if (machine.deadline != 0 && now_s() > machine.deadline) stop({.what = Trouble::What::time_limit, .where = where});
  if (machine.ready.empty()) return;
  machine.ready.push_back(machine.current);
  run_others();
}

void sync_block(Where where) {
  if (--hot.ticks < 0) tick(where);
  wait_as(Meet::block, 0, where);
  if (machine.arrived == 0) {
    machine.first_arrival = where;
    machine.mixed = false;
  } else if (!same_site(machine.first_arrival, where)) machine.mixed = true;
  if (++machine.arrived == machine.threads) {
    if (machine.mixed) stop({.what = Trouble::What::stuck});
    machine.arrived = 0;
    machine.guards.synchronised();
    end_early_of_block(false, 0);
    if (machine.options.watch) machine.watch.block_barrier();
    ready_threads([](Thread&) { return true; });
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
  NamedBarrier& b = machine.named[id];
  if (b.arrived != 0 && b.expected != expected)
    stop({.what = Trouble::What::named_barrier_size,
          .where = where,
          .bytes = b.expected,
          .mask = expected,
          .lane = static_cast<unsigned>(id)});
  Thread& t = *machine.current;
  if (waits) {
    t.at_named = id;
    wait_as(Meet::named, static_cast<unsigned>(id), where);
  } else if (b.late = b.late || !t.early; machine.options.watch) {
    machine.watch.release(t.id, b.clocks);
  }
  b.expected = expected;
  ++b.arrived;
  const unsigned tail = machine.threads % kWarpLanes;
  if (tail != 0 && !b.partial_came && t.id / kWarpLanes == machine.threads / kWarpLanes) {
    b.partial_came = true;
    b.arrived += kWarpLanes - tail;
  }
  if (b.arrived < b.expected) return;
  const NamedBarrier over = std::exchange(b, {});
  machine.guards.synchronised();
  end_early_of_block(over.late, id);
  if (machine.options.watch) {
    std::vector<std::uint16_t> members;
    for (unsigned i = 0; i < machine.threads; ++i)
      if (machine.thread[i].at_named == id) members.push_back(static_cast<std::uint16_t>(i));
    machine.watch.named_barrier(members, over.clocks);
  }
  ready_threads([&](Thread& other) { return other.at_named == id && (other.at_named = 0, true); });
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
  Thread& t = *machine.current;
  Warp& w = machine.warp[t.id / kWarpLanes];
  if (mask == 0xffffffffu && kind < Meet::butterfly) mask = w.exists;
  const bool values = hands_values(kind);
  const unsigned named = 1u << t.lane | (kind == Meet::shuffle ? 1u << source : 0u);
  if ((named & ~mask) != 0 || (mask & ~w.exists) != 0 || (values && (mask & w.exited) != 0)) [[unlikely]]
    refuse_meeting(kind, source, mask, where);

  Meeting* m = w.meetings;
  for (Meeting* end = m + w.open; m != end; ++m)
    if (m->mask == mask && m->kind == kind && same_site(m->where, where)) break;
  if (m == w.meetings + w.open) {
    ++w.open;
    m->mask = mask;
    m->kind = kind;
    m->where = where;
    m->arrived = 0;
  }
  m->arrived |= 1u << t.lane;
  m->value[t.lane] = value;
  m->source[t.lane] = static_cast<std::uint8_t>(source);
  wait_as(kind, mask, where);
  if (((m->arrived | (values ? 0u : w.exited)) & mask) == mask) finish_meeting(w, *m);
  run_others();
  return t.handed;
}

void work_together(Meet kind, WarpWork& mine, Where where) {
  meet_warp(kind, reinterpret_cast<std::uintptr_t>(&mine), 0, 0xffffffffu, where);
}

void* shared_arena() { return machine.shared; }

void start_grid() {
  const device::dim3& b = machine.grid->block;
  machine.threads = b.x * b.y * b.z;
  unsigned id = 0;
  for (unsigned z = 0; z < b.z; ++z)
    for (unsigned y = 0; y < b.y; ++y)
      for (unsigned x = 0; x < b.x; ++x, ++id) {
        Thread& t = machine.thread[id];
        t.index = {x, y, z};
        t.id = id;
        t.lane = id % kWarpLanes;
        t.fiber = nullptr;
        t.at_named = 0;
      }
  for (unsigned w = 0; w * kWarpLanes < machine.threads; ++w) {
    const unsigned lanes = machine.threads - w * kWarpLanes;
    machine.warp[w].exists = lanes >= kWarpLanes ? 0xffffffffu : (1u << lanes) - 1u;
  }
}

void run_block() {
  for (unsigned w = 0; w * kWarpLanes < machine.threads; ++w) machine.warp[w].exited = machine.warp[w].open = 0;
  for (NamedBarrier& b : machine.named) b = {};
  for (unsigned i = 0; i < machine.threads; ++i) machine.thread[i].early = machine.grid->dependent;
  machine.exited = machine.arrived = 0;
  machine.trouble.what = Trouble::What::none;
  machine.ready.clear();
  if (machine.whole_block) machine.ready.push_back(machine.thread);
  else ready_threads([](Thread&) { return true; });

  Thread* first = machine.ready.pop();
  first->fiber = fibers().take();
  become(first);
  switch_fiber(machine.main, *first->fiber);
  if (machine.trouble.what == Trouble::What::none && machine.exited != machine.threads)
    machine.trouble.what = Trouble::What::stuck;
}

}  // namespace simt::detail
