// SPDX-License-Identifier: Apache-2.0
// The cp_async copies in flight.  A GPU may write a copy's bytes at any moment between its issue and its thread's wait.  This
// class writes them at the first or at the last of these, and an access in between is a finding.  Accesses are checked only while
// `in_flight`, so a block without such copies pays nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "where.hpp"

namespace simt::detail {

struct Copy {
  unsigned char* to;
  const unsigned char* from;
  Where where;
  std::uint32_t group;  // number of the commit group in its thread, from 0
  std::uint8_t bytes, valid;
  bool done;
};

class Copies {
 public:
  bool in_flight() const { return in_flight_ != 0; }
  // Whether any of `bytes` bytes, at most 16 and aligned, at `offset` of the arena is in flight.
  bool covers(std::size_t offset, unsigned bytes) const { return (words_[offset / 256] & bits(offset, bytes)) != 0; }
  void start(unsigned thread, std::size_t offset, const Copy& copy, bool at_once);
  void commit(unsigned thread) { ++queues_[thread].committed; }
  void finish(unsigned thread, unsigned newest, const unsigned char* arena);
  // Returns a copy in flight that writes one of these bytes, or null; sets `thread` to the one that issued it.
  const Copy* writer(const unsigned char* first, unsigned bytes, unsigned& thread) const;
  void clear();  // for the end of a block, when no reader of the copies is left

 private:
  struct Queue {
    std::vector<Copy> copies;  // oldest first; those from `first` on are in flight
    std::size_t first = 0;
    std::uint32_t committed = 0;
    bool used = false;
  };
  // One bit stands for 4 bytes.  Note: an aligned access of up to 16 bytes lies within the 256 bytes of one word.
  static std::uint64_t bits(std::size_t offset, unsigned bytes) {
    return ((std::uint64_t{1} << (bytes + 3) / 4) - 1) << offset % 256 / 4;
  }
  void land(const Copy& c);

  std::array<std::uint64_t, 1024> words_{};  // the bits of 256 KiB
  std::array<Queue, 1024> queues_;           // [thread]
  std::vector<unsigned> users_;              // threads whose queues were used
  std::size_t in_flight_ = 0;
};

extern Copies async_copies;

void check_not_in_flight(std::uintptr_t address, unsigned bytes, bool write, Where where);  // of an access to shared memory

}  // namespace simt::detail
