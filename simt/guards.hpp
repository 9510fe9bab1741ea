// SPDX-License-Identifier: Apache-2.0
// Which bytes of shared memory may not be accessed, or not be written, at the moment, and which no fence has shown to the
// asynchronous proxy yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arena.hpp"
#include "where.hpp"

namespace simt::detail {

class Guards {
 public:
  enum Flag : std::uint8_t { written = 1, barrier = 2 };  // a copy in flight may write the bytes; a barrier lies there
  void set(std::size_t offset, std::size_t bytes, Flag flag) {
    each(offset, bytes, [&](Cell& c) { c.touch |= flag; });
  }
  void clear(std::size_t offset, std::size_t bytes, Flag flag) {
    each(offset, bytes, [&](Cell& c) { c.touch = static_cast<std::uint8_t>(c.touch & ~flag); });
  }
  void read_begins(std::size_t offset, std::size_t bytes) {
    each(offset, bytes, [](Cell& c) { ++c.readers; });
  }
  void read_ends(std::size_t offset, std::size_t bytes) {
    each(offset, bytes, [](Cell& c) { --c.readers; });
  }
  bool untouchable(std::size_t offset, std::size_t bytes) {
    return any(offset, bytes, [](const Cell& c) { return c.touch != 0; });
  }
  bool has(std::size_t offset, std::size_t bytes, Flag flag) {
    return any(offset, bytes, [&](const Cell& c) { return (c.touch & flag) != 0; });
  }
  bool unwritable(std::size_t offset, std::size_t bytes) {
    return any(offset, bytes, [](const Cell& c) { return c.readers != 0; });
  }

  // The thread that wrote a cell last, until it fences or a copy overwrites the cell.  A fence of the reader does too, if threads
  // have synchronised in between.  Only the watch knows whether they are those two, and whether a fence of the writer is ordered
  // before the asynchronous read (Watch::fenced).  Of writes before the block's first asynchronous word nobody knows the thread:
  // their writer is `unknown`, and a fence of any thread counts as its own.
  static constexpr unsigned unknown = 1024;
  void wrote(std::size_t offset, std::size_t bytes, unsigned thread) {
    if (unfenced_.size() <= thread) unfenced_.resize(thread + 1);
    each(offset, bytes, [&](Cell& c) {
      c.round = round_;
      if (c.writer == thread + 1) return;
      c.writer = static_cast<std::uint16_t>(thread + 1);
      unfenced_[thread].push_back(&c);
    });
  }
  void synchronised() { ++round_; }
  void fenced(unsigned thread) {
    if (fence_round_.size() <= thread) fence_round_.resize(thread + 1);
    fence_round_[thread] = round_;
    settle(thread);
    settle(unknown);
  }
  void replaced(std::size_t offset, std::size_t bytes) {
    each(offset, bytes, [](Cell& c) { c.writer = 0; });
  }
  bool unfenced(std::size_t offset, std::size_t bytes, unsigned reader) {
    const std::uint32_t fence = reader < fence_round_.size() ? fence_round_[reader] : 0;
    return any(offset, bytes, [&](const Cell& c) { return c.writer != 0 && c.round >= fence; });
  }
  void reset() {
    cells_.reset();
    unfenced_.clear();
    fence_round_.clear();
    round_ = 0;
  }

 private:
  static constexpr std::size_t kCell = 8;  // bytes
  struct Cell {
    std::uint8_t touch;
    std::uint16_t readers, writer;  // writer: its thread + 1
    std::uint32_t round;            // of the write
  };
  void settle(unsigned thread) {
    if (unfenced_.size() <= thread) return;
    for (Cell* const c : unfenced_[thread])
      if (c->writer == thread + 1) c->writer = 0;
    unfenced_[thread].clear();
  }
  Cell* cells() {
    if (cells_ == nullptr) cells_ = std::make_unique<Cell[]>(kArenaBytes / kCell);
    return cells_.get();
  }
  template <class Use>
  void each(std::size_t offset, std::size_t bytes, Use&& use) {
    for (std::size_t i = offset / kCell; i * kCell < offset + bytes; ++i) use(cells()[i]);
  }
  template <class Test>
  bool any(std::size_t offset, std::size_t bytes, Test&& test) {
    for (std::size_t i = offset / kCell; i * kCell < offset + bytes; ++i)
      if (test(cells()[i])) return true;
    return false;
  }
  std::unique_ptr<Cell[]> cells_;
  std::vector<std::vector<Cell*>> unfenced_;  // by thread
  std::vector<std::uint32_t> fence_round_;    // by thread: of its last fence
  std::uint32_t round_ = 0;                   // times that threads have synchronised in some way
};
extern Guards guards;

void check_guards(std::uintptr_t address, unsigned bytes, bool write, Where where);  // checks an access to shared memory
// For bytes that a wgmma or store_box will read, or a copy_box write.
void check_fenced(std::size_t offset, std::size_t bytes, bool write, Where where);

}  // namespace simt::detail
