// SPDX-License-Identifier: Apache-2.0
// The options of the launches to come, and the random numbers that make the order `shuffle`.
// Note: it is an inline variable, as is all state that is read at each access or switch, so that no address is looked up.
#pragma once

#include <cstdint>

#include "machine.hpp"

namespace simt::detail {

struct Random {  // splitmix64
  std::uint64_t state = 0;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32) * n >> 32); }
};

inline Options options;
inline Random random_numbers;  // of the running launch, which starts them from Options::seed

// Whether asynchronous work is done as late as possible: yes in forward order, no in reverse, at random if shuffled.
inline bool as_late_as_may_be() {
  const ThreadOrder order = options.order;
  return order == ThreadOrder::forward || (order == ThreadOrder::shuffle && random_numbers.next() >> 63 == 0);
}

}  // namespace simt::detail
