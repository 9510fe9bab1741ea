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

void* map_nothing(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void close_pages(std::uintptr_t begin, std::uintptr_t end) noexcept {
  mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void open_pages(std::uintptr_t begin, std::uintptr_t end) {
  begin = begin / kPage * kPage;
  end = (end + kPage - 1) / kPage * kPage;
  if (mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0) throw OutOfMemory();
}

}  // namespace simt::detail

namespace simt {

std::size_t least_address_space() noexcept { return detail::limit_for(detail::kLeastSlots); }

}  // namespace simt
