// SPDX-License-Identifier: Apache-2.0
#include "space.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include "machine.hpp"

namespace simt::detail {

namespace {

// The limit of address space with which so many slots and their maps are reserved: a quarter is left to the rest of the process.
constexpr std::size_t limit_for(std::size_t slots) { return ((slots + 1) * kSlotBytes + slots * kSlotBytes / 8 * 3) / 3 * 4; }

}  // namespace

std::size_t most_slots() noexcept {
  rlimit allowed{};
  const bool limited = getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY;
#if defined(SIMT_FEW_SLOTS)
  std::size_t count = kLeastSlots;  // ThreadSanitizer leaves a program 1.5 TiB
#else
  std::size_t count = 4096;
#endif
  while (limited && count >= kLeastSlots && limit_for(count) > allowed.rlim_cur) count /= 2;
  return count;
}

// Note: only open pages are dumped.  So the kernel keeps an allocation that is taken from the host apart from the closed pages
// around it, and need not join and cut them at every launch, which takes more than twice as long.
void* map_nothing(std::size_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p != MAP_FAILED) madvise(p, bytes, MADV_DONTDUMP);
  return p;
}

void close_pages(std::uintptr_t begin, std::uintptr_t end) noexcept {
  void* const p = reinterpret_cast<void*>(begin);
  mprotect(p, end - begin, PROT_NONE);
  madvise(p, end - begin, MADV_DONTNEED);
  madvise(p, end - begin, MADV_DONTDUMP);
}

void open_pages(std::uintptr_t begin, std::uintptr_t end) {
  begin = begin / kPage * kPage;
  end = (end + kPage - 1) / kPage * kPage;
  void* const p = reinterpret_cast<void*>(begin);
  if (mprotect(p, end - begin, PROT_READ | PROT_WRITE) != 0) throw OutOfMemory();
  madvise(p, end - begin, MADV_DODUMP);
}

}  // namespace simt::detail

namespace simt {

std::size_t least_address_space() noexcept { return detail::limit_for(detail::kLeastSlots); }

}  // namespace simt
