// SPDX-License-Identifier: Apache-2.0
// Choosing the next token from logits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "validate/values/random.hpp"

namespace assay {

// The first of the largest logits; a NaN is never chosen unless it is first.
inline std::int32_t greedy(std::span<const double> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// A token with the probability softmax(logits / temperature); draw number `draw` of the seed.  Temperature 0: greedy.
inline std::int32_t sample(std::span<const double> logits, double temperature, std::uint64_t seed, std::uint64_t draw) {
  const std::int32_t best = greedy(logits);
  if (!(temperature > 0)) return best;
  std::vector<double> sums;
  double sum = 0;
  for (const double l : logits) {
    const double p = std::exp((l - logits[static_cast<std::size_t>(best)]) / temperature);
    sums.push_back(sum += p > 0 ? p : 0);  // Note: not for NaN
  }
  const double at = sum * random::uniform(random::key(seed, 0, random::Purpose::kind), draw);
  const auto chosen = std::upper_bound(sums.begin(), sums.end(), at);
  return chosen == sums.end() ? best : static_cast<std::int32_t>(chosen - sums.begin());
}

// -log softmax(logits)[token]
inline double surprise(std::span<const double> logits, std::int32_t token) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double l : logits) sum += std::exp(l - top);
  return top + std::log(sum) - logits[static_cast<std::size_t>(token)];
}

}  // namespace assay
