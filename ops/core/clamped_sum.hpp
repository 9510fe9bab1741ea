// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay {

// begin + (begin + 1) + ... of `count` terms, each at least 0 and at most `most`: the keys that queries see under a mask, added
// up for any number of queries at once.
constexpr double clamped_sum(std::int64_t count, std::int64_t begin, std::int64_t most) {
  const std::int64_t zeros = begin >= 0 ? 0 : -begin < count ? -begin : count;
  const std::int64_t until = most - begin < zeros ? zeros : most - begin < count ? most - begin : count;  // where `most` begins
  const double rising = static_cast<double>(until - zeros), first = static_cast<double>(begin + zeros);
  return rising * first + rising * (rising - 1) / 2 + static_cast<double>(count - until) * static_cast<double>(most);
}

}  // namespace assay
