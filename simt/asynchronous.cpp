// SPDX-License-Identifier: Apache-2.0
#include "asynchronous.hpp"

#include "block.hpp"

namespace simt::detail {

using What = Trouble::What;

void refuse_asynchronous(const char* kind, std::string message, Where where) {
  machine.reported_kind = kind;
  // Note: a string moved over another takes the other's memory, which a thread that is never resumed would lose.
  std::exchange(machine.reported, std::move(message));
  stop({.what = What::reported, .where = where});
}

void report_after_block(const char* kind, std::string message, unsigned thread, Where where) {
  machine.reported_kind = kind;
  machine.reported = std::move(message);
  machine.trouble = {.what = What::reported, .where = where};
  machine.current = machine.thread + thread;
}

void use_asynchronous(Where where) {
  if (machine.asynchronous) return;
  if (machine.current == nullptr) refuse_asynchronous("bad_launch", "the host called a word of the device layer", where);
  if (machine.options.watch && !machine.watch.room_for_engines())
    refuse_asynchronous("bad_launch", "barriers, tensor copies and wgmma are watched in blocks of up to 960 threads", where);
  machine.asynchronous_grid = true;
  start_asynchronous();
  const std::uintptr_t map = hot.written_map + reinterpret_cast<std::uintptr_t>(machine.shared) / 8;
  for (std::size_t i = 0; i < (machine.grid->shared_bytes + 7) / 8; ++i)
    if (*reinterpret_cast<const std::uint8_t*>(map + i) != 0) machine.guards.wrote(8 * i, 8, Guards::unknown);
}

void start_asynchronous() {
  if (!machine.asynchronous_grid) return;
  if (!machine.copies.in_flight()) watch_accesses();
  machine.asynchronous = true;
}

void end_asynchronous() {
  if (!machine.asynchronous) return;
  machine.asynchronous = false;
  if (!machine.copies.in_flight()) unwatch_accesses();
  machine.barriers.clear();
  machine.boxes.clear();
  machine.wgmma.clear();
  machine.registers.clear();
  machine.guards.reset();
}

void check_all_is_over() {
  if (!machine.asynchronous) return;
  machine.boxes.check_over();
  if (machine.trouble.what == What::none) machine.barriers.check_over();
  if (machine.trouble.what == What::none) machine.wgmma.check_over();
  if (machine.trouble.what == What::none) machine.registers.check_over();
}

void check_guards(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(machine.shared);
  const auto refuse = [&](const char* kind, const char* why) {
    refuse_asynchronous(kind,
                        std::string(write ? "write" : "read") + " of " + std::to_string(bytes) + " bytes at byte " +
                            std::to_string(offset) + " of shared memory, " + why,
                        where);
  };
  if (machine.guards.has(offset, bytes, Guards::barrier)) refuse("bad_barrier", "where a barrier lies");
  if (machine.guards.untouchable(offset, bytes)) refuse("in_flight", "which a copy_box may still be writing");
  if (write && machine.guards.unwritable(offset, bytes))
    refuse("wgmma_reads", "which a wgmma or a store_box may still be reading");
  if (write && machine.current != nullptr) machine.guards.wrote(offset, bytes, machine.current->id);
}

void check_fenced(std::size_t offset, std::size_t bytes, bool write, Where where) {
  // Note: device words ask for a fence by who wrote; PTX, whose compilers rely on it, is content with one by who reads.
  if (machine.guards.unfenced(offset, bytes, machine.whole_block ? machine.current->id : ~0u))
    refuse_asynchronous("unfenced",
                        "bytes from " + std::to_string(offset) + " of shared memory are to be " +
                            (write ? "overwritten" : "read") +
                            " by the asynchronous proxy, and who wrote them has not fenced since",
                        where);
}

// Note: device words refuse an early write even if no launch before has touched the bytes; no kernel here needs one.  PTX, which
// others write, may clear memory of its own.  A read is refused of what any launch of the run wrote, also if a launch between
// that is not dependent has waited for it.
void check_early(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  const auto refuse = [&](const char* kind, const char* why) {
    refuse_asynchronous(kind,
                        access_at(address, bytes, write) + " before " +
                            (machine.whole_block ? "griddepcontrol.wait" : "wait_for_previous_grid") + why,
                        where);
  };
  if (write && !machine.whole_block) refuse("early_write", ": a launch before this one may still use the memory");
  for (std::uintptr_t at = address; !write && at < address + bytes; ++at)
    if (*reinterpret_cast<const std::uint8_t*>(hot.written_map + (at >> 3)) >> (at & 7) & 1)
      refuse("early_read", ": a launch before this one wrote there, and may still run");
}
void wait_for_previous_grid(Where where) {
  if (--hot.ticks < 0) tick(where);
  machine.current->early = false;
  machine.anyone_waited = true;
}

std::size_t arena_offset(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(machine.shared);
}

bool as_late_as_may_be() {
  const ThreadOrder order = machine.options.order;
  return order == ThreadOrder::forward || (order == ThreadOrder::shuffle && machine.random.next() >> 63 == 0);
}

}  // namespace simt::detail
