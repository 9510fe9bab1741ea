// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include <cstdlib>
#include <utility>

#include "async.hpp"
#include "findings.hpp"
#include "ticks.hpp"

namespace simt::device {
uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
}  // namespace simt::device

namespace simt::detail {

int thread_number;

namespace {

// Sets the running thread and its built-in variables.
void become(Thread* t) {
  running_thread = t;
  device::threadIdx = t->index;
  thread_number = static_cast<int>(t->id);
}

// Takes the next ready thread.  If there is none, delayed copies land one by one until there is; null if none is left.
Thread* next_ready() {
  for (;;) {
    if (Thread* const t = ready_queue.pop()) return t;
    if (running_block.exited == running_block.threads || !land_one_copy()) return nullptr;
  }
}

// The entry function of every fiber: runs the current thread, then the next ones as long as they have no fiber yet.
[[noreturn]] void fiber_main() {
  entered_fiber();
  for (;;) {
    running_launch.grid->body(running_launch.grid->closure);
    Thread& t = *running_thread;
    Fiber* mine = std::exchange(t.fiber, nullptr);
    if (!canary_intact(*mine)) stop({.what = Trouble::What::stack_overflow});
    ++running_block.exited;
    running_block.warp[t.id / kWarpLanes].exited |= 1u << t.lane;
    leave_meetings(t);
    Thread* next = next_ready();
    Fiber* to = &launching_stack;
    if (next != nullptr) {
      become(next);
      if (next->fiber == nullptr) {
        next->fiber = mine;
        continue;
      }
      to = next->fiber;
    } else {
      running_thread = nullptr;
    }
    fibers().give(mine);
    switch_fiber(*mine, *to);
  }
}

}  // namespace

void run_others() {
  Thread* self = running_thread;
  Thread* next = next_ready();
  if (next == self) return;
  if (next == nullptr) stop({.what = Trouble::What::stuck});
  become(next);
  if (next->fiber == nullptr) next->fiber = fibers().take();
  switch_fiber(*self->fiber, *next->fiber);
}

FiberPool& fibers() {
  static FiberPool pool(fiber_main);
  return pool;
}

// Note: a thread yields after many accesses, so that one which spins on memory lets the other threads of its block run.
void tick(Where where) {
  const bool each_is_slow = every_access() || async_copies.in_flight();
  if (each_is_slow && ++time_limit.slow_ticks < kTicks) return;
  time_limit.slow_ticks = 0;
  hot.ticks = each_is_slow ? -1 : kTicks;
  if (running_thread == nullptr) return;
  if (past_deadline()) stop({.what = Trouble::What::time_limit, .where = where});
  if (ready_queue.empty()) return;
  ready_queue.push_back(running_thread);
  run_others();
}

void start_grid() {
  const device::dim3& b = running_launch.grid->block;
  running_block.threads = b.x * b.y * b.z;
  unsigned id = 0;
  for (unsigned z = 0; z < b.z; ++z)
    for (unsigned y = 0; y < b.y; ++y)
      for (unsigned x = 0; x < b.x; ++x, ++id) {
        Thread& t = running_block.thread[id];
        t.index = {x, y, z};
        t.id = id;
        t.lane = id % kWarpLanes;
        t.fiber = nullptr;
        t.at_named = 0;
      }
  for (unsigned w = 0; w * kWarpLanes < running_block.threads; ++w) {
    const unsigned lanes = running_block.threads - w * kWarpLanes;
    running_block.warp[w].exists = lanes >= kWarpLanes ? 0xffffffffu : (1u << lanes) - 1u;
  }
}

void run_block() {
  for (unsigned w = 0; w * kWarpLanes < running_block.threads; ++w) running_block.warp[w].exited = 0;
  for (unsigned i = 0; i < running_block.threads; ++i) running_block.thread[i].early = running_launch.grid->dependent;
  start_rendezvous();
  running_block.exited = 0;
  findings.trouble.what = Trouble::What::none;
  ready_queue.clear();
  if (running_launch.whole_block) make_ready(0);
  else make_ready_if([](Thread&) { return true; });

  Thread* first = ready_queue.pop();
  first->fiber = fibers().take();
  become(first);
  switch_fiber(launching_stack, *first->fiber);
  if (!is_stopped() && running_block.exited != running_block.threads) findings.trouble.what = Trouble::What::stuck;
}

}  // namespace simt::detail
