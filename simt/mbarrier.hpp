// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory.  A phase of one is over when as many threads have arrived as it was made for and as many bytes as
// were promised have landed; a wait names the parity of the phase that it waits for.  Their state is kept here: the 8 bytes in
// shared memory are nobody's to read or write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "watch.hpp"
#include "where.hpp"

namespace simt::detail {

// Bytes of shared memory that a copy has written, until somebody has waited for the phase that counts them.
struct Landed {
  std::size_t offset, bytes;
  unsigned thread;  // that issued it
  Where where;
};

struct Barrier {
  std::size_t offset;  // in the arena
  unsigned arrivals, pending;
  std::int64_t lacking;   // bytes promised and not landed
  std::int64_t promised;  // in this phase
  std::uint64_t phase;
  Where where;             // of its initialisation
  unsigned thread;         // that made it
  bool ready;              // barriers_ready has come since
  unsigned engine;         // whose clock stands for what lands here
  Watch::Clocks gathering, over;  // of the phase that runs; of the one before
  std::vector<Landed> landed, complete;
  std::vector<std::uint16_t> waiting;  // threads
};

class Barriers {
 public:
  void make(void* at, int arrivals, Where where);
  void ready(unsigned thread);
  Barrier& find(const void* at, const char* word, Where where);
  void arrive(Barrier& b, std::int64_t promise, Where where);
  void wait(Barrier& b, unsigned parity, Where where);
  // For a copy of these bytes that has landed.
  void landed(std::size_t index, const Landed& box);
  std::size_t index(const Barrier& b) const { return static_cast<std::size_t>(&b - all_.data()); }
  Barrier& at(std::size_t i) { return all_[i]; }
  // "phase 3 of the barrier at +1024 lacks 1 arrival and 1024 of 49152 bytes"
  std::string state(std::size_t offset) const;
  void check_over();
  void clear() { all_.clear(); }

 private:
  void complete_phase(Barrier& b);
  void observe(Barrier& b);
  std::vector<Barrier> all_;
};

}  // namespace simt::detail
