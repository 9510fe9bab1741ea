// SPDX-License-Identifier: Apache-2.0
#include "watch.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "arena.hpp"
#include "describe.hpp"
#include "findings.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "threads.hpp"
#include "watch_inline.hpp"

namespace simt::detail {

using What = Trouble::What;

Watch watch;

void Watch::Release::operator()(Cell* cells) const { std::free(cells); }

// --- Synchronisation --------------------------------------------------------------------------------------------------

void Watch::start_launch(unsigned threads) {
  stored_ = nullptr;
  launch_ = ++clock_;
  threads_ = threads;
  engines_ = (threads + kLanes - 1) / kLanes * kLanes;
  width_ = engines_ + kEngines;
  fences_.resize(threads);
  at_fence_.resize(threads);
  blocks_.clear();
  released_.clear();
  if (of_slot_.empty()) {
    of_slot_.resize(kSlots);
    shadows_.resize(kSlots);
  }
}

void Watch::start_block() {
  block_ = barrier_ = ++clock_;
  crossed_ = false;
  blocks_.push_back({clock_, device::blockIdx});
  acquired_.clear();
  uninitialised_.what = What::none;
  for (auto& of_thread : fences_) of_thread.clear();
  for (auto& of_thread : at_fence_) of_thread.clear();
}

// A thread knows, of each other one, a clock up to which that thread's accesses are ordered before its own.  A synchronisation
// sets it to the clock just before for all that take part, and to the latest that any of them knew for the others.
void Watch::warp_barrier(unsigned warp, unsigned lanes) {
  ++clock_;
  std::uint16_t members[kLanes];
  unsigned count = 0;
  for (unsigned left = lanes; left != 0; left &= left - 1)
    members[count++] = static_cast<std::uint16_t>(warp * kLanes + static_cast<unsigned>(std::countr_zero(left)));
  if (crossed_) join_across(members, count);
  if (lanes == running_block.warp[warp].exists) {
    warp_[warp] = clock_;
    return;
  }
  std::uint64_t joined[kLanes] = {};
  for (unsigned i = 0; i < count; ++i)
    for (unsigned l = 0; l < kLanes; ++l) joined[l] = std::max(joined[l], known_[members[i] * kLanes + l]);
  for (unsigned i = 0; i < count; ++i) joined[members[i] % kLanes] = clock_ - 1;
  for (unsigned i = 0; i < count; ++i) {
    std::copy(joined, joined + kLanes, known_.begin() + members[i] * kLanes);
    own_[members[i]] = clock_;
  }
}

void Watch::named_barrier(const std::vector<std::uint16_t>& threads, const std::vector<std::uint64_t>& arrived) {
  cross();
  ++clock_;
  if (!threads.empty() && !arrived.empty()) acquire(threads[0], arrived);
  join_across(threads.data(), threads.size());
  for (const std::uint16_t t : threads) own_[t] = clock_;
}

void Watch::join_across(const std::uint16_t* threads, std::size_t count) {
  joined_.assign(width_, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t* row = across_.data() + std::size_t{threads[i]} * width_;
    for (unsigned u = 0; u < width_; ++u) joined_[u] = std::max(joined_[u], row[u]);
  }
  for (std::size_t i = 0; i < count; ++i) joined_[threads[i]] = clock_ - 1;
  for (std::size_t i = 0; i < count; ++i)
    std::copy(joined_.begin(), joined_.end(), across_.begin() + static_cast<std::ptrdiff_t>(std::size_t{threads[i]} * width_));
}

// --- Accesses ---------------------------------------------------------------------------------------------------------

// 3 for an access of another block, 2 of another warp, 1 of another lane, 0 for one that is ordered and matters no more.
inline unsigned Watch::distance(Stamp s, unsigned me) const {
  const std::uint64_t clock = clock_of(s);
  if (clock < launch_) return 0;
  if (clock < block_) return 3;
  if (clock < barrier_ || thread_of(s) == me) return 0;
  if (thread_of(s) / kLanes != me / kLanes) return crossed_ && ordered(s, me) ? 0 : 2;
  return 1;
}

inline void Watch::note_read(Cell& c, Stamp mine, Stamp floor) const {
  const unsigned me = thread_of(mine);
  if (c.read >= floor && (c.other < floor || distance(c.read, me) >= distance(c.other, me))) c.other = c.read;
  c.read = mine;
}

const Watch::Shadow& Watch::make_shadow(std::uintptr_t address, unsigned shift) {
  const Allocation& a = *find_allocation(address);
  auto& owned = shadows_[a.begin >> 32];
  if (owned == nullptr) {
    owned = std::make_unique<Shadow>();
    owned->base = a.begin & ~std::uintptr_t{15};
    owned->bytes = ((a.begin + a.bytes + 15) & ~std::uintptr_t{15}) - owned->base;
    owned->shift = 4;
  }
  of_slot_[address >> 32] = owned.get();
  if (owned->cells == nullptr || shift < owned->shift) refine(*owned, shift);
  return *owned;
}

// Splits the cells into smaller ones, each with a copy of the larger one's accesses.
void Watch::refine(Shadow& s, unsigned shift) {
  const std::size_t count = s.bytes >> shift;
  std::unique_ptr<Cell[], Release> cells(static_cast<Cell*>(std::calloc(std::max<std::size_t>(count, 1), sizeof(Cell))));
  if (cells == nullptr) throw OutOfMemory();
  if (s.cells != nullptr)
    for (std::size_t i = 0; i < count; ++i) cells[i] = s.cells[i >> (s.shift - shift)];
  s.cells = std::move(cells);
  s.shift = shift;
}

void Watch::forget(std::size_t slot, std::size_t count) {
  if (shadows_.empty()) return;
  std::fill_n(of_slot_.begin() + static_cast<std::ptrdiff_t>(slot), count, nullptr);
  shadows_[slot].reset();
}

unsigned Watch::new_call(Where where) {
  static std::unordered_map<std::uintptr_t, unsigned> all;
  const std::uintptr_t key = site_key(where);
  const auto [at, fresh] = all.try_emplace(key, static_cast<unsigned>(calls_.size()));
  if (fresh && calls_.size() < kCalls) calls_.push_back(where);
  KnownCall& recent = recent_[(key ^ key >> 10) / 8 % recent_.size()];
  recent = {key, std::min(at->second, kCalls - 1)};
  return recent.number;
}

inline Stamp Watch::stamp(unsigned thread, Where where) {
  if (thread != stamped_ || clock_ != stamped_at_) [[unlikely]] {
    stamped_ = thread;
    stamped_at_ = clock_;
    stamp_clock_ = std::max({own_[thread], warp_[thread / kLanes], barrier_}) << kClockShift | thread;
  }
  return stamp_clock_ | Stamp{call(where)} << kCallShift;
}

namespace {

// An access, kept apart for race_of(): the loop over the cells keeps what it needs in registers.
struct Asking {
  std::uintptr_t address;
  unsigned bytes;
  Access kind;
  Where where;
};

[[gnu::cold, gnu::noinline]] Trouble race_of(const Asking& a, Stamp earlier, bool earlier_write) {
  return {.what = What::race,
          .where = a.where,
          .address = a.address,
          .bytes = a.bytes,
          .write = is_write(a.kind),
          .earlier = earlier,
          .earlier_write = earlier_write};
}

// initialised(), quick for an access of up to 8 bytes.
inline bool quickly_initialised(std::uintptr_t address, unsigned bytes) {
  const std::uintptr_t at = address >> 3;
  if (bytes > 8 || (bytes & (bytes - 1)) != 0) return initialised(address, bytes);
  const unsigned known =
      *reinterpret_cast<const unsigned char*>(hot.written_map + at) | *reinterpret_cast<const unsigned char*>(hot.host_map + at);
  return (~(known >> (address & 7)) & ((1u << bytes) - 1)) == 0;
}

}  // namespace

void Watch::meet_blocks(std::uintptr_t address, unsigned how) {
  std::vector<Released>& here = released_[address];
  const bool again = !here.empty() && here.back().block == block_;
  const std::size_t others = here.size() - (again ? 1 : 0);
  if ((how & 2) != 0 && others != 0) acquired_.emplace_back(&here, others);
  if ((how & 1) == 0) return;
  const unsigned me = running_thread->id;
  const Released mine{block_, barrier_, std::max({own_[me], warp_[me / kLanes], barrier_}), me};
  if (again) here.back() = mine;
  else here.push_back(mine);
  own_[me] = ++clock_;  // what this thread does from now on is not released
}

// Whether another block released an access before this block acquired what it released.
bool Watch::released(Stamp earlier) const {
  const std::uint64_t clock = clock_of(earlier);
  for (const auto& [all, count] : acquired_) {
    const auto end = all->begin() + static_cast<std::ptrdiff_t>(count);
    const auto after = std::upper_bound(all->begin(), end, clock, [](std::uint64_t c, const Released& r) { return c < r.block; });
    if (after == all->begin()) continue;
    const Released& r = *std::prev(after);
    if (clock < r.until || (thread_of(earlier) == r.thread && clock <= r.own)) return true;
  }
  return false;
}

// Whether Options::replicated makes a race no finding.
[[gnu::cold, gnu::noinline]] bool Watch::forgiven(const Trouble& race) const {
  if (!options.replicated) return false;
  if (clock_of(race.earlier) < block_) return released(race.earlier);
  if (is_shared(race.address))
    return race.write && race.earlier_write && same_site(calls_[race.earlier >> kCallShift & (kCalls - 1)], race.where);
  if (race.write && race.earlier_write) return false;
  suspect(race);
  return true;
}

inline void Watch::check_initialised(std::uintptr_t address, unsigned bytes, unsigned thread, Where where) {
  if (quickly_initialised(address, bytes) || uninitialised_.what != What::none) [[likely]]
    return;
  uninitialised_ = {.what = What::uninitialised, .where = where, .address = address, .bytes = bytes};
  uninitialised_by_ = thread;
}

template <class Meet>
inline void Watch::read_cells(Cell* c, const Cell* end, Stamp mine, Stamp floor, Meet meet) const {
  for (; c != end; ++c) {
    meet(c->write, true);
    if (((c->read | c->other) & kAtomic) != 0) [[unlikely]]
      for (const Stamp earlier : {c->read, c->other})
        if ((earlier & kAtomic) != 0) meet(earlier, true);
    note_read(*c, mine, floor);
  }
}

// A cell covers `cell` bytes, the first of them from `address` on.
template <class Meet>
inline void Watch::write_cells(Cell* c, const Cell* end, std::size_t cell, std::uintptr_t address, Stamp mine, Meet meet) {
  const std::byte* stored = std::exchange(stored_, nullptr);
  for (const auto* there = reinterpret_cast<const std::byte*>(address); c != end; ++c, there += cell) {
    const bool same = stored != nullptr && std::memcmp(there, stored, cell) == 0;
    if (stored != nullptr) stored += cell;
    if (!same || (c->write & kAtomic) != 0) meet(c->write, true);
    meet(c->read, (c->read & kAtomic) != 0);
    meet(c->other, (c->other & kAtomic) != 0);
    *c = {mine, 0, 0};
  }
}

// The cells of an atomic operation.
template <class Meet>
inline void Watch::update_cells(Cell* c, const Cell* end, Stamp mine, Stamp floor, Meet meet) const {
  for (; c != end; ++c) {
    if ((c->write & kAtomic) == 0) meet(c->write, true);
    for (const Stamp earlier : {c->read, c->other})
      if ((earlier & kAtomic) == 0) meet(earlier, false);
    note_read(*c, mine | kAtomic, floor);
    c->write = mine | kAtomic;
  }
}

void Watch::read_by_lanes(unsigned first, std::uint32_t lanes, const std::uint64_t* at, unsigned bytes, Where where) {
  const Shadow& s = shadow_at(at[std::countr_zero(lanes)], static_cast<unsigned>(std::countr_zero(bytes)));
  const bool shared = is_shared(std::uintptr_t{at[std::countr_zero(lanes)]});
  const Stamp floor = (shared ? barrier_ : launch_) << kClockShift, called = Stamp{call(where)} << kCallShift;
  const std::uint64_t common = std::max(warp_[first / kLanes], barrier_);
  const unsigned count = bytes >> s.shift;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const unsigned me = first + lane;
    check_initialised(at[lane], bytes, me, where);
    Cell* const c = s.cells.get() + ((at[lane] - s.base) >> s.shift);
    read_cells(c, c + count, std::max(own_[me], common) << kClockShift | called | me, floor, [&](Stamp earlier, bool was_write) {
      if (earlier < floor || ordered(earlier, me)) [[likely]]
        return;
      running_thread = running_block.thread + me;
      const Trouble race = race_of({at[lane], bytes, Access::read, where}, earlier, was_write);
      if (!forgiven(race)) stop(race);
    });
  }
}

void Watch::access(std::uintptr_t address, unsigned bytes, Access kind, Where where) {
  if (!is_write(kind)) check_initialised(address, bytes, running_thread->id, where);
  if (kind == Access::atomic_read) return;  // the atomic_write that follows stands for both
  const Shadow& s = shadow_at(address, static_cast<unsigned>(std::countr_zero(address | bytes | 16)));
  const unsigned me = running_thread->id;
  const Stamp mine = stamp(me, where);
  const Stamp floor = (is_shared(address) ? barrier_ : launch_) << kClockShift;  // earlier ones are ordered
  const Asking asking{address, bytes, kind, where};
  const auto meet = [&](Stamp earlier, bool was_write) {
    if (earlier >= floor && !ordered(earlier, me)) [[unlikely]] {
      const Trouble race = race_of(asking, earlier, was_write);
      if (!forgiven(race)) stop(race);
    }
  };
  Cell* c = s.cells.get() + ((address - s.base) >> s.shift);
  Cell* const end = c + (bytes >> s.shift);
  if (kind == Access::read) {
    read_cells(c, end, mine, floor, meet);
  } else if (kind == Access::write) {
    write_cells(c, end, std::size_t{1} << s.shift, address, mine, meet);
  } else {
    update_cells(c, end, mine, floor, meet);
  }
}

void Watch::landed(unsigned thread, std::uintptr_t address, unsigned bytes, Where where) {
  const Shadow& s = shadow_at(address, static_cast<unsigned>(std::countr_zero(address | bytes | 16)));
  const Stamp mine = stamp(thread, where);
  Cell* const c = s.cells.get() + ((address - s.base) >> s.shift);
  std::fill(c, c + (bytes >> s.shift), Cell{mine, 0, 0});
}

std::string Watch::describe(Stamp s) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), clock_of(s),
                                      [](std::uint64_t clock, const BlockStart& b) { return clock < b.clock; });
  const Where& where = calls_[static_cast<unsigned>(s >> kCallShift) % kCalls];
  if (thread_of(s) >= engines_) return std::string("what ") + where.file_name() + ":" + std::to_string(where.line()) + " began";
  return "thread " + detail::describe(running_block.thread[thread_of(s)].index) + " of block " +
         (after == blocks_.begin() ? "?" : detail::describe((after - 1)->index)) + " (" + where.file_name() + ":" +
         std::to_string(where.line()) + ")";
}

bool initialised(std::uintptr_t address, unsigned bytes) {
  const auto known = [](std::uintptr_t at) {
    return *reinterpret_cast<const unsigned char*>(hot.written_map + at) |
           *reinterpret_cast<const unsigned char*>(hot.host_map + at);
  };
  const std::uintptr_t at = address >> 3;
  if (bytes == 16) return (known(at) & known(at + 1)) == 0xff;
  for (unsigned done = 0; done < bytes;) {
    const unsigned first = (address + done) & 7, n = std::min(bytes - done, 8 - first), mask = ((1u << n) - 1) << first;
    if ((static_cast<unsigned>(known((address + done) >> 3)) & mask) != mask) return false;
    done += n;
  }
  return true;
}

}  // namespace simt::detail
