// SPDX-License-Identifier: Apache-2.0
// Elements of an output of a solved problem: those that have a golden, and their bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "validate/problem/lazy_array.hpp"
#include "validate/problem/op.hpp"

namespace assay {

// The elements of an output for which the golden is computed, in order.
class SolvedElements {
 public:
  SolvedElements(const Problem& problem, int output, std::int64_t n) : n_(n), all_(problem.rows().all()) {
    if (all_) return;
    // Note: a shortcut, since looking up the row of every element takes longer than checking the sampled ones.
    if (const std::int64_t length = problem.row_length(output); length > 0) {
      for (const std::int64_t row : problem.rows().sample)
        for (std::int64_t i = row * length; i < std::min((row + 1) * length, n); ++i) some_.push_back(i);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i)
      if (problem.rows().has(problem.row_of(output, i))) some_.push_back(i);
  }
  std::int64_t count() const { return all_ ? n_ : static_cast<std::int64_t>(some_.size()); }
  std::int64_t operator[](std::int64_t k) const { return all_ ? k : some_[static_cast<std::size_t>(k)]; }

 private:
  std::int64_t n_;
  bool all_;
  std::vector<std::int64_t> some_;
};

// Bounds of all elements by numerics and errors: several checks need them, so they are computed once.  Thread-safe.
class KeptBounds {
 public:
  // make(): an array for each output.
  std::span<const double> of(Errors errors, const Numerics& numerics, int output,
                             const std::function<std::vector<LazyArray>()>& make);

 private:
  struct Kept {
    Numerics numerics;
    Errors errors;
    std::once_flag made{};
    std::vector<LazyArray> bounds{};
  };
  std::mutex mutex_;
  std::list<Kept> kept_;  // a list, since spans refer to its elements
};

}  // namespace assay
