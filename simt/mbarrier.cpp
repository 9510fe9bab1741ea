// SPDX-License-Identifier: Apache-2.0
#include "mbarrier.hpp"

#include <algorithm>
#include <utility>

#include "arena.hpp"
#include "asynchronous.hpp"
#include "device_hopper.hpp"
#include "findings.hpp"
#include "guards.hpp"
#include "options.hpp"
#include "scheduler.hpp"
#include "threads.hpp"
#include "watch.hpp"

namespace simt::detail {

Barriers memory_barriers;

namespace {
constexpr std::int64_t kMostBytes = (1 << 20) - 1;  // in a phase; PTX ISA, "mbarrier": the range of tx-count
constexpr int kMostArrivals = (1 << 20) - 1;
constexpr std::size_t kEnded = ~std::size_t{0};  // offset of a barrier that is none any more
constexpr unsigned kEngineOfBarriers = 16;       // after 8 engines of wgmma and 8 of stores, one of each a warpgroup
std::string at_offset(std::size_t offset) { return "the barrier at +" + std::to_string(offset); }
}  // namespace

void Barriers::make(void* at, int arrivals, Where where) {
  const std::size_t offset = arena_offset(at);
  if (!is_shared(at) || offset % 8 != 0 || arrivals < 1 || arrivals > kMostArrivals)
    stop_with("bad_barrier",
              "barrier_init for " + std::to_string(arrivals) +
                  " arrivals; a barrier lies in 8 aligned bytes of shared memory and counts 1 to 1048575",
              where);
  access<8, Access::write>(at, where);
  if (guards.has(offset, 8, Guards::barrier))
    stop_with("bad_barrier", "barrier_init where " + at_offset(offset) + " already lies", where);
  guards.set(offset, 8, Guards::barrier);
  Barrier b{};
  b.offset = offset;
  b.where = where;
  b.thread = running_thread->id;
  b.arrivals = b.pending = static_cast<unsigned>(arrivals);
  b.engine = watch.engine(kEngineOfBarriers + static_cast<unsigned>(all_.size()) % (Watch::kEngines - kEngineOfBarriers));
  all_.push_back(std::move(b));
}

void Barriers::ready(unsigned thread) {
  for (Barrier& b : all_)
    if (b.thread == thread) b.ready = true;
}

Barrier& Barriers::find(const void* at, const char* word, Where where) {
  const std::size_t offset = arena_offset(at);
  for (Barrier& b : all_)
    if (b.offset == offset) return b;
  stop_with("bad_barrier", std::string(word) + ": no barrier_init has made a barrier at +" + std::to_string(offset), where);
}

void Barriers::end(Barrier& b, Where where) {
  if (b.lacking != 0 || !b.landed.empty())
    stop_with("bad_barrier", "an end of a barrier within a phase that counts bytes: " + state(b.offset), where);
  guards.clear(b.offset, 8, Guards::barrier);
  b.offset = kEnded;
}

void Barriers::arrive(Barrier& b, std::int64_t promise, Where where, unsigned arrivals) {
  if (b.pending < arrivals || arrivals == 0)
    stop_with("bad_barrier", "an arrival more than the " + std::to_string(b.arrivals) + " of a phase at " + at_offset(b.offset),
              where);
  ++events_;
  b.late_comes = b.late_comes || !running_thread->early;
  if (options.watch) watch.release(running_thread->id, b.gathering);
  expect(b, promise, where);
  b.pending -= arrivals;
  complete_phase(b);
}

void Barriers::expect(Barrier& b, std::int64_t promise, Where where) {
  if (promise < 0 || b.promised + promise > kMostBytes)
    stop_with("bad_barrier",
              std::to_string(b.promised + promise) + " bytes expected in a phase of " + at_offset(b.offset) + "; at most " +
                  std::to_string(kMostBytes),
              where);
  b.lacking += promise;
  b.promised += promise;
}

// Starts the next phase if this one is over.  Note: bytes that land before they are promised make `lacking` negative for a while.
void Barriers::complete_phase(Barrier& b) {
  if (b.pending != 0 || b.lacking != 0) return;
  ++b.phase;
  guards.synchronised();
  b.pending = b.arrivals;
  b.promised = 0;
  b.late = std::exchange(b.late_comes, false);
  b.complete.insert(b.complete.end(), b.landed.begin(), b.landed.end());
  b.landed.clear();
  std::swap(b.over, b.gathering);
  std::fill(b.gathering.begin(), b.gathering.end(), 0);
  for (const std::uint16_t t : b.waiting) make_ready(t);
  b.waiting.clear();
}

void Barriers::landed(std::size_t index, const Landed& box) {
  Barrier& b = all_[index];
  ++events_;
  b.landed.push_back(box);
  b.lacking -= static_cast<std::int64_t>(box.bytes);
  complete_phase(b);
}

// A thread has waited for the completed copies: their bytes may be accessed from now on, and the watch orders them for waiters.
void Barriers::observe(Barrier& b) {
  const std::uint64_t now = watch.advance();
  for (const Landed& box : b.complete) {
    guards.clear(box.offset, box.bytes, Guards::written);
    if (options.watch) watch.done(b.engine, now, arena_begin() + box.offset, static_cast<unsigned>(box.bytes), true, box.where);
  }
  if (options.watch && !b.complete.empty()) watch.release(b.engine, now, b.over);
  b.complete.clear();
}

void Barriers::wait(Barrier& b, unsigned parity, Where where) {
  if (!b.ready && b.thread != running_thread->id)
    stop_with("unfenced", "a wait at " + at_offset(b.offset) + " without barriers_ready after its barrier_init", where);
  const std::size_t i = index(b);
  while ((all_[i].phase & 1) == parity) {
    wait_as(Meet::barrier, static_cast<unsigned>(all_[i].offset), where);
    all_[i].waiting.push_back(static_cast<std::uint16_t>(running_thread->id));
    run_others();
  }
  pass(all_[i]);
}

void Barriers::pass(Barrier& b) {
  if (!b.complete.empty()) observe(b);
  if (b.late) running_thread->early = false;
  if (options.watch) watch.acquire(running_thread->id, b.over);
}

std::string Barriers::state(std::size_t offset) const {
  for (const Barrier& b : all_) {
    if (b.offset != offset) continue;
    std::string text = "phase " + std::to_string(b.phase) + " of " + at_offset(offset) + " lacks ";
    if (b.pending != 0) text += std::to_string(b.pending) + " of " + std::to_string(b.arrivals) + " arrivals";
    if (b.pending != 0 && b.lacking != 0) text += " and ";
    if (b.lacking > 0) text += std::to_string(b.lacking) + " of " + std::to_string(b.promised) + " bytes";
    if (b.lacking < 0) text += "the promise of " + std::to_string(-b.lacking) + " bytes that landed";
    return text;
  }
  return {};
}

void Barriers::check_over() {
  for (const Barrier& b : all_) {
    for (const std::vector<Landed>* boxes : {&b.landed, &b.complete})
      for (const Landed& box : *boxes)
        return left_behind("the block ends before a thread has waited for the copy of " + std::to_string(box.bytes) +
                               " bytes to +" + std::to_string(box.offset) + " of shared memory",
                           box.thread, box.where);
    if (b.lacking != 0) return left_behind("the block ends within a phase: " + state(b.offset), b.thread, b.where);
  }
}

// --- The words --------------------------------------------------------------------------------------------------------

void barrier_init(void* b, int arrivals, Where where) {
  use_asynchronous(where);
  memory_barriers.make(b, arrivals, where);
}
void barriers_ready(Where where) {
  if (--hot.ticks < 0) tick(where);
  if (running_thread == nullptr) return;
  memory_barriers.ready(running_thread->id);
}
void barrier_arrive(void* b, long long promise, Where where) {
  if (--hot.ticks < 0) tick(where);
  memory_barriers.arrive(memory_barriers.find(b, "barrier_arrive", where), promise, where);
}
void barrier_wait(void* b, unsigned parity, Where where) {
  if (--hot.ticks < 0) tick(where);
  tensor_boxes.land_at(memory_barriers.index(memory_barriers.find(b, "barrier_wait", where)));
  memory_barriers.wait(memory_barriers.find(b, "barrier_wait", where), parity & 1, where);
}

}  // namespace simt::detail
