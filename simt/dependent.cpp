// SPDX-License-Identifier: Apache-2.0
#include "dependent.hpp"

#include "describe.hpp"
#include "findings.hpp"

namespace simt::detail {

// Note: device words refuse an early write even if no launch before has touched the bytes; no kernel here needs one.  PTX, which
// others write, may clear memory of its own.  A read is refused of what any launch of the run wrote, also if a launch between
// that is not dependent has waited for it.
void check_early(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  const auto refuse = [&](const char* kind, const char* why) {
    stop_with(kind,
              access_at(address, bytes, write) + " before " +
                  (running_launch.whole_block ? "griddepcontrol.wait" : "wait_for_previous_grid") + why,
              where);
  };
  if (write && !running_launch.whole_block) refuse("early_write", ": a launch before this one may still use the memory");
  for (std::uintptr_t at = address; !write && at < address + bytes; ++at)
    if (*reinterpret_cast<const std::uint8_t*>(hot.written_map + (at >> 3)) >> (at & 7) & 1)
      refuse("early_read", ": a launch before this one wrote there, and may still run");
}

void wait_for_previous_grid(Where where) {
  if (--hot.ticks < 0) tick(where);
  running_thread->early = false;
  running_launch.anyone_waited = true;
}

}  // namespace simt::detail
