// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <new>
#include <stdexcept>
#include <vector>

#include "machine.hpp"
#include "space.hpp"

namespace simt::detail {

Slot slots[kSlots];
Hot hot;

namespace {

// Added between the maps: in one access the machine writes to one and reads the others, and a processor takes addresses whose
// last 12 bits agree for the same at first.
constexpr std::size_t kApart = 1344;
constexpr std::size_t kKeepBytes = std::size_t{1} << 20;  // committed pages that a free slot keeps
constexpr std::size_t kQuarantine = 16;  // free slots not reused, so that a use after release does not hit a new allocation

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

class Memory {
 public:
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view name, const std::vector<Extent>& extents);
  void release(Allocation& a) noexcept;
  void reset(Allocation& a) noexcept;
  void clear(const Allocation& a, std::uintptr_t map) noexcept;
  void vouch(Allocation& a, std::uintptr_t begin, std::uintptr_t end) noexcept;
  void keep_written(Allocation& a) noexcept;
  Allocation* find(std::uintptr_t address) noexcept;
  std::uint64_t unique_bytes(const Allocation& a, std::uintptr_t map) const;
  std::uintptr_t behind_map(std::uintptr_t address) const noexcept;
  std::vector<Allocation>& all() { return of_slot_; }
  std::size_t id(const Allocation& a) const { return base_ / kSlotBytes + a.first; }
  void protect(int protection);

 private:
  void reserve();
  std::size_t take(std::size_t count);
  void open(const Allocation& a);
  void commit(std::size_t first, std::uintptr_t end);
  void close(std::size_t first, std::size_t count, std::size_t kept = 0) noexcept;

  std::uintptr_t base_ = 0;
  std::size_t fresh_ = 0;                  // slots from here on were never used
  std::vector<Allocation> of_slot_;        // [slot], at the allocation's first slot
  std::vector<std::size_t> owner_;         // [slot] first slot of its allocation
  std::vector<std::uintptr_t> committed_;  // [first slot] end of the committed pages
  std::deque<std::size_t> free_;           // single slots
};

Memory& memory() {
  static Memory m;
  return m;
}

void Memory::reserve() {
  for (std::size_t count = most_slots(); count >= kLeastSlots; count /= 2) {
    void* space = map_nothing((count + 1) * kSlotBytes);
    if (space == MAP_FAILED) continue;
    const std::uintptr_t base = round_up(reinterpret_cast<std::uintptr_t>(space), kSlotBytes);
    const std::size_t bytes_of_maps = count * kSlotBytes / 8 * 3 + kPage;
    void* maps = map_nothing(bytes_of_maps);
    if (maps == MAP_FAILED || base / kSlotBytes + count > kSlots) {
      munmap(space, (count + 1) * kSlotBytes);
      if (maps != MAP_FAILED) munmap(maps, bytes_of_maps);
      continue;
    }
    base_ = base;
    hot.read_map = reinterpret_cast<std::uintptr_t>(maps) - base / 8;
    hot.written_map = hot.read_map + count * kSlotBytes / 8 + kApart;
    hot.host_map = hot.written_map + count * kSlotBytes / 8 + kApart;
    of_slot_.resize(count);
    owner_.resize(count);
    committed_.resize(count);
    return;
  }
  throw OutOfMemory();
}

std::size_t Memory::take(std::size_t count) {
  const bool none_left = fresh_ + count > of_slot_.size();
  if (count == 1 && (free_.size() > kQuarantine || (none_left && !free_.empty()))) {
    const std::size_t slot = free_.front();
    free_.pop_front();
    return slot;
  }
  if (!none_left) return (fresh_ += count) - count;
  for (std::size_t first = 0, run = 0, i = 0; i < fresh_; ++i) {  // look for `count` released slots in a row
    run = of_slot_[owner_[i]].live ? 0 : run + 1;
    first = i + 1 - run;
    if (run < count) continue;
    std::erase_if(free_, [&](std::size_t s) { return s >= first && s < first + count; });
    return first;
  }
  throw OutOfMemory();
}

void Memory::commit(std::size_t first, std::uintptr_t end) {
  const std::uintptr_t begin = base_ + first * kSlotBytes + kLead;
  if (end <= committed_[first]) return;
  const std::uintptr_t from = std::max(begin, committed_[first]), to = round_up(end, kPage);
  open_pages(from, to);
  // Note: to the bits of the last page's end, which may be in another page of a map than those of `end`.
  for (const std::uintptr_t map : {hot.read_map, hot.written_map, hot.host_map}) open_pages(map + from / 8, map + to / 8);
  committed_[first] = to;
}

// Leaves no page in slots, nor in their parts of the maps, but for the first bytes.
void Memory::close(std::size_t first, std::size_t count, std::size_t kept) noexcept {
  const std::uintptr_t begin = base_ + first * kSlotBytes + kept, end = base_ + (first + count) * kSlotBytes;
  close_pages(begin, end);
  // Note: what stays of a page in the maps holds no bits, since the allocations there were reset.
  for (const std::uintptr_t map : {hot.read_map, hot.written_map, hot.host_map})
    close_pages(round_up(map + begin / 8, kPage), (map + end / 8) / kPage * kPage);
  for (std::size_t i = first; i < first + count; ++i) committed_[i] = std::min(committed_[i], begin);
}

// Opens the pages of an allocation and of its bits in the maps; of several extents only their own.
void Memory::open(const Allocation& a) {
  if (a.extents.size() == 1) return commit(a.first, a.begin + a.bytes + 16);
  close(a.first, a.slots);
  for (const Extent& e : a.extents) {
    open_pages(a.begin + e.begin, a.begin + e.end + 16);
    for (const std::uintptr_t map : {hot.read_map, hot.written_map, hot.host_map})
      open_pages(map + (a.begin + e.begin) / 8, map + (a.begin + e.end + 16) / 8 + 1);
  }
}

void* Memory::allocate(std::size_t bytes, std::size_t offset, std::string_view name, const std::vector<Extent>& extents) {
  if (base_ == 0) reserve();
  if (offset > kLead || bytes > of_slot_.size() * kSlotBytes) throw OutOfMemory();
  const std::size_t count = (2 * kLead + offset + bytes + kSlotBytes - 1) / kSlotBytes;
  const std::size_t first = take(count);
  for (std::size_t i = first; i < first + count; ++i) {
    if (i != first) committed_[i] = 0;
    owner_[i] = first;
  }
  const std::uintptr_t begin = base_ + first * kSlotBytes + kLead + offset;
  Allocation& a = of_slot_[first] = Allocation{std::string(name), begin, bytes, first, count, true, extents, false, {}, {}};
  open(a);
  Slot filled{begin, {}, 0, 0};
  for (int k = 0; k < 5; ++k) filled.limit[k] = bytes >> k == 0 ? 0 : bytes - (std::size_t{1} << k) + 1;
  std::fill_n(slots + id(a), count, filled);
  return reinterpret_cast<void*>(begin);
}

// Clears the bits of an allocation in a map.  Note: whole map bytes are cleared, since no other allocation shares them.
void Memory::clear(const Allocation& a, std::uintptr_t map) noexcept {
  std::uintptr_t begin = map + a.begin / 8, end = map + (a.begin + a.bytes + 15) / 8;
  if (end - begin > 4 * kPage) {
    const std::uintptr_t pages = round_up(begin, kPage), pages_end = end / kPage * kPage;
    madvise(reinterpret_cast<void*>(pages), pages_end - pages, MADV_DONTNEED);
    std::memset(reinterpret_cast<void*>(begin), 0, pages - begin);
    begin = pages_end;
  }
  std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
}

// Marks bytes [begin, end) of an allocation as written by the host.
void Memory::vouch(Allocation& a, std::uintptr_t begin, std::uintptr_t end) noexcept {
  a.vouched = true;
  const auto set = [](std::uintptr_t from, std::uintptr_t to) {
    for (; from < to; ++from)
      *reinterpret_cast<unsigned char*>(hot.host_map + from / 8) |= static_cast<unsigned char>(1u << from % 8);
  };
  const std::uintptr_t whole = std::min(end, round_up(begin, 8)), whole_end = std::max(whole, end / 8 * 8);
  set(begin, whole);
  std::memset(reinterpret_cast<void*>(hot.host_map + whole / 8), 0xff, (whole_end - whole) / 8);
  set(whole_end, end);
}

// Marks what kernels have written as written by the host, so that it still counts as written after reset().
void Memory::keep_written(Allocation& a) noexcept {
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < a.slots; ++i) written += slots[id(a) + i].written_bytes;
  if (written == 0) return;
  a.vouched = true;
  for (const Extent& e : a.extents)
    for (std::uintptr_t at = (a.begin + e.begin) / 8; at < (a.begin + e.end + 7) / 8; ++at)
      *reinterpret_cast<unsigned char*>(hot.host_map + at) |= *reinterpret_cast<const unsigned char*>(hot.written_map + at);
}

// Clears an allocation's counts, and its bits in the maps of reads and writes.
void Memory::reset(Allocation& a) noexcept {
  std::uint64_t read = 0, written = 0;
  for (std::size_t i = 0; i < a.slots; ++i) {
    Slot& s = slots[id(a) + i];
    read += s.read_bytes;
    written += s.written_bytes;
    s.read_bytes = s.written_bytes = 0;
  }
  if (read != 0) clear(a, hot.read_map);
  if (written != 0) clear(a, hot.written_map);
  for (int k : {0, 1}) a.requests[k] = a.sectors[k] = 0;
}

void Memory::release(Allocation& a) noexcept {
  reset(a);
  if (a.vouched) clear(a, hot.host_map);
  for (std::size_t i = 0; i < a.slots; ++i) {
    Slot& s = slots[id(a) + i];
    std::fill(std::begin(s.limit), std::end(s.limit), 0);
  }
  a.live = false;
  // Note: pages that may be written count as the process's memory (RLIMIT_DATA), even those that hold nothing.
  const std::size_t kept = a.extents.size() > 1 ? 0 : kLead + kKeepBytes;
  if (kept == 0 || committed_[a.first] > base_ + a.first * kSlotBytes + kept) close(a.first, a.slots, kept);
  if (a.slots == 1) free_.push_back(a.first);
}

Allocation* Memory::find(std::uintptr_t address) noexcept {
  const std::size_t slot = (address - base_) / kSlotBytes;
  if (base_ == 0 || address < base_ || slot >= fresh_) return nullptr;
  return &of_slot_[owner_[slot]];
}

std::uintptr_t Memory::behind_map(std::uintptr_t address) const noexcept {
  const std::uintptr_t end = base_ + of_slot_.size() * kSlotBytes;
  for (const std::uintptr_t map : {hot.read_map, hot.written_map, hot.host_map})
    if (base_ != 0 && address >= map + base_ / 8 && address < map + end / 8) return (address - map) * 8;
  return address;
}

std::uint64_t Memory::unique_bytes(const Allocation& a, std::uintptr_t map) const {
  std::uint64_t n = 0;
  std::uintptr_t p = 0;
  for (const Extent& e : a.extents) {
    const std::uintptr_t end = map + (a.begin + e.end + 7) / 8;
    p = std::max(p, map + (a.begin + e.begin) / 8);  // two extents may share a byte of the map
    for (; p + 8 <= end; p += 8) {
      std::uint64_t word;
      std::memcpy(&word, reinterpret_cast<const void*>(p), 8);
      n += static_cast<std::uint64_t>(std::popcount(word));
    }
    for (; p < end; ++p) n += static_cast<std::uint64_t>(std::popcount(*reinterpret_cast<const unsigned char*>(p)));
  }
  return n;
}

// Changes what may be done with the pages of all live allocations: all that are open, so that the kernel need not cut them.
void Memory::protect(int protection) {
  const auto change = [&](std::uintptr_t begin, std::uintptr_t end) {
    if (mprotect(reinterpret_cast<void*>(begin), end - begin, protection) != 0) throw OutOfMemory();
  };
  for (std::size_t i = 0; i < fresh_; ++i) {
    const Allocation& a = of_slot_[i];
    if (!a.live) continue;
    if (a.extents.size() == 1) {
      change(base_ + a.first * kSlotBytes + kLead, committed_[a.first]);
      continue;
    }
    for (const Extent& e : a.extents) change((a.begin + e.begin) / kPage * kPage, round_up(a.begin + e.end + 16, kPage));
  }
}

bool taken = false;  // from the host
}  // namespace

OpenMemory::OpenMemory() {
  if (taken) memory().protect(PROT_READ | PROT_WRITE);
}
OpenMemory::~OpenMemory() {
  if (taken) memory().protect(PROT_NONE);
}

Allocation* find_allocation(std::uintptr_t address) noexcept { return memory().find(address); }

std::size_t slot_of(const Allocation& a) noexcept { return memory().id(a); }

void give_back(Allocation& a) noexcept { memory().release(a); }

void reset_allocations() noexcept {
  for (Allocation& a : memory().all())
    if (a.live) {
      memory().keep_written(a);
      memory().reset(a);
    }
}

std::uintptr_t behind_map(std::uintptr_t address) noexcept { return memory().behind_map(address); }

const Allocation* nearest_allocation(std::uintptr_t address) noexcept {
  const Allocation* nearest = nullptr;
  std::uintptr_t least = 0;
  for (const Allocation& a : memory().all()) {
    if (!a.live) continue;
    const std::uintptr_t end = a.begin + a.bytes, away = address < a.begin ? a.begin - address
                                                         : address < end   ? 0
                                                                           : address - end;
    if (nearest != nullptr && away >= least) continue;
    nearest = &a;
    least = away;
  }
  return nearest;
}

const Allocation* cut_offset_of(std::uintptr_t address, unsigned bytes) noexcept {
  for (const std::uintptr_t element : {bytes, 2u, 4u, 8u, 1u})
    for (const Allocation& a : memory().all()) {
      if (!a.live || a.bytes >> 31 < element) continue;  // no offset into it takes more than 31 bits
      const std::uintptr_t lost = element << 32;
      // Note: an offset that was cut lies between -2^31 and 2^31, so the address may be before the allocation.
      const auto cut = static_cast<std::intptr_t>(address - a.begin);
      if (cut >= static_cast<std::intptr_t>(lost / 2) || cut < -static_cast<std::intptr_t>(lost / 2)) continue;
      for (std::uintptr_t whole = address - a.begin + lost; whole < a.bytes; whole += lost)
        if (std::any_of(a.extents.begin(), a.extents.end(), [&](const Extent& e) { return whole >= e.begin && whole < e.end; }))
          return &a;
    }
  return nullptr;
}

}  // namespace simt::detail

namespace simt {

void* allocate(std::size_t bytes, std::size_t offset, std::string_view name) {
  return detail::memory().allocate(bytes, offset, name, {{0, bytes}});
}
void* allocate(std::size_t bytes, std::size_t offset, std::string_view name, const std::vector<Extent>& extents) {
  return detail::memory().allocate(bytes, offset, name, extents);
}

bool written(const void* allocation) noexcept {
  const detail::Allocation* a = detail::find_allocation(reinterpret_cast<std::uintptr_t>(allocation));
  for (std::size_t i = 0; a != nullptr && i < a->slots; ++i)
    if (detail::slots[detail::memory().id(*a) + i].written_bytes != 0) return true;
  return false;
}

void take_from_host() {
  detail::memory().protect(PROT_NONE);
  detail::taken = true;
}
void give_to_host() noexcept {
  if (detail::taken) detail::memory().protect(PROT_READ | PROT_WRITE);
  detail::taken = false;
}

std::size_t bytes_in_use() noexcept {
  std::size_t n = 0;
  for (const detail::Allocation& a : detail::memory().all())
    if (a.live) n += a.bytes;
  return n;
}

Counts counts(const void* allocation) {
  const detail::Allocation* a = detail::find_allocation(reinterpret_cast<std::uintptr_t>(allocation));
  if (a == nullptr || !a->live) throw std::invalid_argument("simt::counts: not an allocation of this machine");
  Counts c;
  for (std::size_t i = 0; i < a->slots; ++i) {
    c.read_bytes += detail::slots[detail::memory().id(*a) + i].read_bytes;
    c.written_bytes += detail::slots[detail::memory().id(*a) + i].written_bytes;
  }
  if (c.read_bytes != 0) c.unique_read_bytes = detail::memory().unique_bytes(*a, detail::hot.read_map);
  if (c.written_bytes != 0) c.unique_written_bytes = detail::memory().unique_bytes(*a, detail::hot.written_map);
  c.read_requests = a->requests[0];
  c.written_requests = a->requests[1];
  c.read_sectors = a->sectors[0];
  c.written_sectors = a->sectors[1];
  return c;
}

void mark_written(const void* p, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  if (detail::Allocation* a = detail::find_allocation(begin)) detail::memory().vouch(*a, begin, begin + bytes);
}

void mark_unwritten(const void* allocation) noexcept {
  detail::Allocation* a = detail::find_allocation(reinterpret_cast<std::uintptr_t>(allocation));
  if (a == nullptr || !a->live) return;
  detail::memory().reset(*a);
  if (a->vouched) detail::memory().clear(*a, detail::hot.host_map);
  a->vouched = false;
}

std::size_t first_unwritten(const void* p, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uintptr_t at = begin + i;
    if ((*reinterpret_cast<const unsigned char*>(detail::hot.written_map + at / 8) >> at % 8 & 1) == 0) return i;
  }
  return bytes;
}

}  // namespace simt
