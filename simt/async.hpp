// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that go on by themselves.  Between its issue and the wait of the thread that issued
// it, a copy may write its bytes at any moment: here at the first or at the last of these, and whoever touches them in
// between is at fault.  A block without such copies pays nothing: accesses are looked at only while `in_flight`.
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
  std::uint32_t group;  // of its thread, from 0
  std::uint8_t bytes, valid;
  bool done;
};

class Copies {
 public:
  bool in_flight() const { return in_flight_ != 0; }
  // Whether some of the aligned bytes at `offset` of the arena, at most 16, are in flight.
  bool covers(std::size_t offset, unsigned bytes) const { return (words_[offset / 256] & bits(offset, bytes)) != 0; }
  void start(unsigned thread, std::size_t offset, const Copy& copy, bool at_once);
  void commit(unsigned thread) { ++queues_[thread].committed; }
  void finish(unsigned thread, unsigned newest, const unsigned char* arena);
  // A copy in flight that writes one of these bytes, and the thread that issued it.
  const Copy* writer(const unsigned char* first, unsigned bytes, unsigned& thread) const;
  void clear();  // the block has ended: what is in flight has no reader left

 private:
  struct Queue {
    std::vector<Copy> copies;  // from `first` on in flight, oldest first
    std::size_t first = 0;
    std::uint32_t committed = 0;
    bool used = false;
  };
  // One bit for 4 bytes.  Note: an aligned access of up to 16 bytes lies within the 256 bytes of one word.
  static std::uint64_t bits(std::size_t offset, unsigned bytes) {
    return ((std::uint64_t{1} << (bytes + 3) / 4) - 1) << offset % 256 / 4;
  }
  void land(const Copy& c);

  std::array<std::uint64_t, 1024> words_{};  // of 256 KiB
  std::array<Queue, 1024> queues_;           // by thread
  std::vector<unsigned> users_;              // threads whose queues were used
  std::size_t in_flight_ = 0;
};

}  // namespace simt::detail
