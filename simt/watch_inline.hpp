// SPDX-License-Identifier: Apache-2.0
// The inline functions of Watch that every access calls; only watch.cpp and watch_async.cpp include them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "watch.hpp"

namespace simt::detail {

inline bool Watch::ordered(Stamp s, unsigned me) const {
  const std::uint64_t clock = clock_of(s);
  if (clock < launch_) return true;
  if (clock < block_) return false;
  if (clock < barrier_) return true;
  const unsigned other = thread_of(s);
  if (other == me) return true;
  if (other / kLanes == me / kLanes && (clock < warp_[me / kLanes] || clock <= known_[me * kLanes + other % kLanes])) return true;
  return crossed_ && clock <= across_[std::size_t{me} * width_ + other];
}

inline const Watch::Shadow& Watch::shadow_at(std::uintptr_t address, unsigned shift) {
  const Shadow* s = of_slot_[address >> 32];
  if (s != nullptr && s->shift <= shift) [[likely]]
    return *s;
  return make_shadow(address, shift);
}

inline unsigned Watch::call(Where where) {
  const std::uintptr_t key = site_key(where);
  const KnownCall& recent = recent_[(key ^ key >> 10) / 8 % recent_.size()];
  return recent.key == key ? recent.number : new_call(where);
}

}  // namespace simt::detail
