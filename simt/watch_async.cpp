// SPDX-License-Identifier: Apache-2.0
// The clocks of barriers in memory, of asynchronous copies and of wgmma; see watch.hpp.
#include <algorithm>
#include <bit>
#include <string>

#include "arena.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "watch_inline.hpp"

namespace simt::detail {

using What = Trouble::What;

// From here to the next block barrier, the clocks that threads know of each other are kept for all pairs.
void Watch::cross() {
  if (crossed_) return;
  crossed_ = true;
  across_.assign(std::size_t{threads_} * width_, 0);
  for (unsigned t = 0; t < threads_; ++t)
    for (unsigned u = t / kLanes * kLanes, l = 0; l < kLanes && u + l < threads_; ++l)
      across_[std::size_t{t} * width_ + u + l] = std::max(known_[t * kLanes + l], warp_[t / kLanes] - (warp_[t / kLanes] != 0));
}

void Watch::release(unsigned thread, Clocks& into) {
  cross();
  ++clock_;
  std::uint64_t* row = across_.data() + std::size_t{thread} * width_;
  row[thread] = clock_ - 1;
  own_[thread] = clock_;
  into.resize(width_, 0);
  for (unsigned u = 0; u < width_; ++u) into[u] = std::max(into[u], row[u]);
}

void Watch::release(unsigned engine, std::uint64_t until, Clocks& into) const {
  into.resize(width_, 0);
  into[engine] = std::max(into[engine], until);
}

void Watch::acquire(unsigned thread, const Clocks& from) {
  cross();
  std::uint64_t* row = across_.data() + std::size_t{thread} * width_;
  for (std::size_t u = 0; u < from.size(); ++u) row[u] = std::max(row[u], from[u]);
}

void Watch::know(unsigned thread, unsigned engine, std::uint64_t until) {
  cross();
  std::uint64_t& known_of = across_[std::size_t{thread} * width_ + engine];
  known_of = std::max(known_of, until);
}

void Watch::fence(unsigned thread) {
  own_[thread] = ++clock_;
  fences_[thread].push_back(clock_);
  if (!running_launch.whole_block) return;
  at_fence_[thread].resize(threads_);
  for (unsigned other = 0; other < threads_; ++other) at_fence_[thread][other] = known(thread, other);
}

std::uint64_t Watch::known(unsigned me, unsigned other) const {
  std::uint64_t until = barrier_ - 1;
  if (other / kLanes == me / kLanes)
    until = std::max({until, warp_[me / kLanes] - (warp_[me / kLanes] != 0), known_[me * kLanes + other % kLanes]});
  if (crossed_) until = std::max(until, across_[std::size_t{me} * width_ + other]);
  return until;
}

// Whether a fence lies between this write and `me`: one by the writer that is ordered before `me`; for PTX also the last one by
// `me`, if the write is ordered before it.  Writes before the block or by engines need no fence.
bool Watch::fenced(Stamp write, unsigned me) const {
  const unsigned writer = thread_of(write);
  if (clock_of(write) < block_ || writer >= engines_) return true;
  if (running_launch.whole_block && writer != me && !at_fence_[me].empty() && clock_of(write) <= at_fence_[me][writer])
    return true;
  const std::vector<std::uint64_t>& fences = fences_[writer];
  const auto first = std::upper_bound(fences.begin(), fences.end(), clock_of(write));
  return first != fences.end() && (writer == me || *first <= known(me, writer));
}

void Watch::begin(unsigned thread, std::uintptr_t address, unsigned bytes, bool write, Where where) {
  const Shadow& s = shadow_at(address, static_cast<unsigned>(std::countr_zero(address | bytes | 16)));
  const Stamp floor = block_ << kClockShift;
  Stamp last = 0;  // the access checked last: neighbouring cells mostly have the same one
  const auto meet = [&](Stamp earlier, bool was_write, std::uintptr_t at) {
    if (earlier < floor || earlier == last) return;
    last = earlier;
    if (!ordered(earlier, thread))
      stop({.what = What::race,
            .where = where,
            .address = at,
            .bytes = 1u << s.shift,
            .write = write,
            .earlier = earlier,
            .earlier_write = was_write});
    if (was_write && !fenced(earlier, thread))
      stop_with("unfenced",
                "bytes from " + std::to_string(arena_offset(at)) + " of shared memory are to be " +
                    (write ? "overwritten" : "read") + " by the asynchronous proxy, but no fence_shared_async of the writer, " +
                    describe(earlier) + ", is ordered before",
                where);
  };
  Cell* c = s.cells.get() + ((address - s.base) >> s.shift);
  for (std::uintptr_t at = address; at < address + bytes; at += std::uintptr_t{1} << s.shift, ++c) {
    meet(c->write, true, at);
    if (!write) continue;
    meet(c->read, false, at);
    meet(c->other, false, at);
  }
}

void Watch::done(unsigned engine, std::uint64_t at, std::uintptr_t address, unsigned bytes, bool write, Where where) {
  const Shadow& s = shadow_at(address, static_cast<unsigned>(std::countr_zero(address | bytes | 16)));
  const Stamp mine = at << kClockShift | Stamp{call(where)} << kCallShift | engine, floor = block_ << kClockShift;
  Cell* const first = s.cells.get() + ((address - s.base) >> s.shift);
  Cell* const end = first + (bytes >> s.shift);
  if (write) {
    std::fill(first, end, Cell{mine, 0, 0});
    return;
  }
  for (Cell* c = first; c != end; ++c) {
    if (c->read < floor || thread_of(c->read) == engine) c->read = mine;
    else c->other = mine;
  }
}

}  // namespace simt::detail
