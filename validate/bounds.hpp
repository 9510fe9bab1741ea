// SPDX-License-Identifier: Apache-2.0
// The bounds of an output's elements, which tier after tier asks for.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "ops/core/contract.hpp"

namespace assay {

class Problem;

// Those of a solved problem, made once for all who ask.  Threads may ask at the same time.
class KeptBounds {
 public:
  // Of every element; empty where they are too many to keep, or where some have none since their rows are not solved.
  std::span<const double> of(const Problem&, const Numerics&, int output);
  void forget() { kept_.clear(); }

 private:
  struct Kept {
    Numerics numerics;
    int output;
    std::once_flag made{};
    std::vector<double> bounds{};
  };
  std::mutex mutex_;
  std::list<Kept> kept_;
};

// What one looks them up in.
class Bounds {
 public:
  Bounds(const Problem& problem, const Numerics& numerics, int output);
  double operator[](std::int64_t i) const;

 private:
  const Problem& problem_;
  const Numerics& numerics_;
  int output_;
  std::span<const double> kept_;
};

}  // namespace assay
