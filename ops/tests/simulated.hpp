// SPDX-License-Identifier: Apache-2.0
// For tests that compute in float what a declared word of Numerics stands for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "catch_shim.hpp"

namespace assay::test {

// Values within [-1, 1), of f32.
struct Draws {
  std::uint64_t state = 1;
  float operator()() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31f;
  }
};

// Over many draws: err/bound with the word and without it.  Every error is within the bound with the word, and some error is
// outside the bound without it.
struct Tried {
  double largest = 0, largest_without = 0;
  void add(double error, double bound, double bound_without) {
    largest = std::max(largest, error / bound);
    largest_without = std::max(largest_without, error / bound_without);
  }
  void check() const {
    CHECK(largest <= 1);
    CHECK(largest_without > 1);
  }
};

}  // namespace assay::test
