// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/bounds.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

namespace assay {

namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 18;  // elements, 2 MB

}  // namespace

class KeptBounds {
 public:
  std::span<const double> of(const Problem& problem, Errors errors, const Numerics& numerics, int output) {
    const std::size_t n = problem.golden(output).size();
    if (problem.by_formula(numerics)) return by_formula(problem, errors, numerics, output);
    if (!problem.rows().all() || n > kMostKept) return {};
    std::unique_lock lock(mutex_);
    auto at = std::find_if(kept_.begin(), kept_.end(),
                           [&](const Kept& k) { return k.output == output && k.errors == errors && k.numerics == numerics; });
    if (at == kept_.end()) at = kept_.emplace(kept_.end(), numerics, errors, output);
    lock.unlock();
    std::call_once(at->made, [&] {
      at->bounds.resize(n);
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < n; ++i)
        at->bounds[i] = problem.bound_with(errors, numerics, output, static_cast<std::int64_t>(i));
    });
    return at->bounds;
  }

 private:
  std::span<const double> by_formula(const Problem& problem, Errors errors, const Numerics& numerics, int output) {
    std::unique_lock lock(mutex_);
    auto at = std::find_if(derived_.begin(), derived_.end(),
                           [&](const Derived& k) { return k.errors == errors && k.numerics == numerics; });
    if (at == derived_.end()) at = derived_.emplace(derived_.end(), numerics, errors);
    lock.unlock();
    std::call_once(at->made, [&] { at->bounds = problem.bounds_by_formula(errors, numerics); });
    return at->bounds[static_cast<std::size_t>(output)].values();
  }

  struct Derived {
    Numerics numerics;
    Errors errors;
    std::once_flag made{};
    std::vector<LazyArray> bounds{};
  };
  struct Kept {
    Numerics numerics;
    Errors errors;
    int output;
    std::once_flag made{};
    std::vector<double> bounds{};
  };
  std::mutex mutex_;
  std::list<Kept> kept_;  // a list, since spans refer to its elements
  std::list<Derived> derived_;
};

Problem::Problem() { forget_bounds(); }
void Problem::forget_bounds() { bounds_ = std::make_shared<KeptBounds>(); }

Bounds::Bounds(const Problem& problem, const Numerics& numerics, int output, std::optional<Errors> errors)
    : problem_(problem),
      numerics_(numerics),
      errors_(errors.value_or(problem.errors())),
      output_(output),
      kept_(problem.kept_bounds().of(problem, errors_, numerics, output)) {}

}  // namespace assay
