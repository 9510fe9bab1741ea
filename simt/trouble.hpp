// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hooks.hpp"

namespace simt::detail {

// Why a launch stopped.  It is plain data, since a fiber fills it in and the launching stack makes a finding of it (report.cpp).
struct Trouble {
  enum class What : std::uint8_t {
    none,
    access,
    plain_access,
    stack_overflow,
    time_limit,
    stuck,
    mixed_barrier,
    bad_named_barrier,
    named_barrier_size,
    caller_not_in_mask,
    lane_missing,
    lane_exited,
    lane_left,
    source_inactive,
    mixed_work,
    matrix_not_shared,
    in_flight,
    copy_not_to_shared,
    copy_from_shared,
    copy_of_too_much,
    race,
    uninitialised,
    observed,
    trapped,
    reported  // by stop_with() or report_after_block(): the kind and the message lie in `findings`
  };
  What what = What::none;
  Where where{};
  std::uintptr_t address = 0;
  unsigned bytes = 0, mask = 0, lane = 0;
  Meet kind = Meet::block;
  bool write = false;
  std::uint64_t earlier = 0;  // the Stamp of a race's other access
  bool earlier_write = false;
  std::uintptr_t code = 0;  // address of an instruction whose source line only the debug information has; else 0
};

}  // namespace simt::detail
