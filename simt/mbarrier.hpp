// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory (mbarrier).  A phase is over when as many threads have arrived as the barrier was made for and all
// promised bytes have landed.  A wait names the parity of its phase.  The state is kept here; no thread may access the 8 bytes in
// shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "watch.hpp"
#include "where.hpp"

namespace simt::detail {

// Bytes of shared memory that a copy has written, kept until a thread has waited for the phase that counts them.
struct Landed {
  std::size_t offset, bytes;
  unsigned thread;  // issued the copy
  Where where;
};

struct Barrier {
  std::size_t offset;  // in the arena
  unsigned arrivals, pending;
  std::int64_t lacking;   // bytes promised less bytes landed
  std::int64_t promised;  // in this phase
  std::uint64_t phase;
  Where where;                           // of its initialisation
  unsigned thread;                       // made the barrier
  bool ready;                            // that thread has called barriers_ready since
  bool late_comes, late;                 // a thread that is not early (threads.hpp) has arrived; in a phase that is over
  unsigned engine;                       // the watch's engine (watch.hpp) for the copies that land here
  Watch::Clocks gathering, over;         // clocks released into the current phase; into the one before
  std::vector<Landed> landed, complete;  // in the current phase; in phases that are over, until a thread has waited
  std::vector<std::uint16_t> waiting;    // numbers of threads
};

class Barriers {
 public:
  void make(void* at, int arrivals, Where where);
  void ready(unsigned thread);
  Barrier& find(const void* at, const char* word, Where where);
  void end(Barrier& b, Where where);  // its bytes may be used for something else
  void arrive(Barrier& b, std::int64_t promise, Where where, unsigned arrivals = 1);
  void expect(Barrier& b, std::int64_t promise, Where where);  // without an arrival
  void wait(Barrier& b, unsigned parity, Where where);
  // What a wait does whose phase is over: the running thread may touch what has landed.
  void pass(Barrier& b);
  // Counts the bytes of a copy that has landed.
  void landed(std::size_t index, const Landed& box);
  std::size_t index(const Barrier& b) const { return static_cast<std::size_t>(&b - all_.data()); }
  Barrier& at(std::size_t i) { return all_[i]; }
  // "phase 3 of the barrier at +1024 lacks 1 of 2 arrivals and 1024 of 49152 bytes"
  std::string state(std::size_t offset) const;
  void check_over();
  void clear() {
    all_.clear();
    events_ = 0;
  }
  std::uint64_t events() const { return events_; }  // so far: a number that grows with each arrival and landing

 private:
  void complete_phase(Barrier& b);
  void observe(Barrier& b);
  std::vector<Barrier> all_;
  std::uint64_t events_ = 0;
};

extern Barriers memory_barriers;

}  // namespace simt::detail
