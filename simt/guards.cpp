// SPDX-License-Identifier: Apache-2.0
#include "guards.hpp"

#include <string>

#include "describe.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "threads.hpp"

namespace simt::detail {

Guards guards;

void check_guards(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  const std::size_t offset = arena_offset(address);
  const auto refuse = [&](const char* kind, const char* why) {
    stop_with(kind, access_of(bytes, write) + "at byte " + std::to_string(offset) + " of shared memory, " + why, where);
  };
  if (guards.has(offset, bytes, Guards::barrier)) refuse("bad_barrier", "where a barrier lies");
  if (guards.untouchable(offset, bytes)) refuse("in_flight", "which a copy_box may still be writing");
  if (write && guards.unwritable(offset, bytes)) refuse("wgmma_reads", "which a wgmma or a store_box may still be reading");
  if (write && running_thread != nullptr) guards.wrote(offset, bytes, running_thread->id);
}

void check_fenced(std::size_t offset, std::size_t bytes, bool write, Where where) {
  // Note: device words ask for a fence by who wrote; PTX, whose compilers rely on it, is content with one by who reads.
  if (guards.unfenced(offset, bytes, running_launch.whole_block ? running_thread->id : ~0u))
    stop_with("unfenced",
              "bytes from " + std::to_string(offset) + " of shared memory are to be " + (write ? "overwritten" : "read") +
                  " by the asynchronous proxy, and who wrote them has not fenced since",
              where);
}

}  // namespace simt::detail
