// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hooks.hpp"

namespace simt::detail {

// Why the launch cannot go on: plain data, since it is filled in on a fiber and told from the launching stack.
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
    told  // in machine.told: what went wrong with work that goes on by itself
  };
  What what = What::none;
  Where where{};
  std::uintptr_t address = 0;
  unsigned bytes = 0, mask = 0, lane = 0;
  Meet kind = Meet::block;
  bool write = false;
  std::uint64_t earlier = 0;  // the Stamp of a race's other access
  bool earlier_write = false;
  std::uintptr_t code = 0;  // of an access whose source line only the debugger's tables know
};

}  // namespace simt::detail
