// SPDX-License-Identifier: Apache-2.0
// Cached bounds of an output's elements: several checks need them, so they are computed once and kept with the problem.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "validate/problem/op.hpp"

namespace assay {

// Bounds of a solved problem.  Thread-safe.
class Bounds {
 public:
  Bounds(const Problem& problem, const Numerics& numerics, int output, std::optional<Errors> errors = {});  // the fill's errors
  double operator[](std::int64_t i) const {
    return kept_.empty() ? problem_.bound_with(errors_, numerics_, output_, i) : kept_[static_cast<std::size_t>(i)];
  }

 private:
  const Problem& problem_;
  const Numerics& numerics_;
  Errors errors_;
  int output_;
  std::span<const double> kept_;  // of every element; empty if they are too many, or if rows are sampled
};

}  // namespace assay
