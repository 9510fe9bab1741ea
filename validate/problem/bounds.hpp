// SPDX-License-Identifier: Apache-2.0
// The bounds of an output's elements, which tier after tier asks for: made once for all who ask, kept with the problem.
#pragma once

#include <cstdint>
#include <span>

#include "validate/problem/op.hpp"

namespace assay {

// Of a solved problem.  Threads may ask at the same time.
class Bounds {
 public:
  Bounds(const Problem& problem, const Numerics& numerics, int output);
  double operator[](std::int64_t i) const {
    return kept_.empty() ? problem_.bound(numerics_, output_, i) : kept_[static_cast<std::size_t>(i)];
  }

 private:
  const Problem& problem_;
  const Numerics& numerics_;
  int output_;
  std::span<const double> kept_;  // of every element; empty where they are too many to keep, or some rows are not solved
};

}  // namespace assay
