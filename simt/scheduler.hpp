// SPDX-License-Identifier: Apache-2.0
// The turns of the running block's threads (scheduler.cpp), and where they wait for each other (rendezvous.cpp).
// A thread gets a fiber when it starts and hands it to the next thread when it ends.  Threads that never wait thus share one
// fiber and cost no switch.
#pragma once

#include <cstdint>
#include <utility>

#include "fiber.hpp"
#include "hooks.hpp"
#include "options.hpp"
#include "threads.hpp"

namespace simt::detail {

inline constexpr unsigned kNamedBarriers = 16;

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
  Thread* ring_[kSize] = {};
  unsigned head_ = 0, tail_ = 0;
};
inline ReadyQueue ready_queue;

inline void make_ready(unsigned thread) { ready_queue.push_back(running_block.thread + thread); }
// Puts the threads for which takes_part(thread) holds at the end of the queue, in the machine's order.
template <class Predicate>
void make_ready_if(Predicate takes_part) {
  std::uint16_t ids[kMaxThreads];
  unsigned n = 0;
  for (unsigned i = 0; i < running_block.threads; ++i)
    if (takes_part(running_block.thread[i])) ids[n++] = static_cast<std::uint16_t>(i);
  const ThreadOrder order = options.order;
  if (order == ThreadOrder::shuffle)
    for (unsigned i = n; i > 1; --i) std::swap(ids[i - 1], ids[random_numbers.below(i)]);
  for (unsigned i = 0; i < n; ++i) make_ready(ids[order == ThreadOrder::reverse ? n - 1 - i : i]);
}

void start_grid();  // sets the threads' indices and the warps
// Runs the block blockIdx until all its threads have ended or it is stopped.
void run_block();
// Lets the other ready threads run; returns when this thread is at the head of the queue.
void run_others();
FiberPool& fibers();
// These lanes have synchronised: what they did before is ordered before what they do from now on.
void warp_synchronised(unsigned warp, unsigned lanes);

// --- Within the scheduler: rendezvous.cpp.
void start_rendezvous();  // called when a block starts
// A lane has ended: a sync_warp of its warp may now be complete; any other kind that waits for it is a finding.
void leave_meetings(const Thread& t);

// Lands one delayed copy, when no thread can go on; false if none is in flight.  Note: tensor_copy.cpp defines it, whose barriers
// wait here.
bool land_one_copy();

}  // namespace simt::detail
