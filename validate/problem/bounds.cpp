// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/bounds.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

#include "validate/base/error.hpp"

namespace assay {

namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 18;  // elements, 2 MB

}  // namespace

class KeptBounds {
 public:
  // Of every element; empty if each is cheap to ask for, and they are too many or of sampled rows.
  std::span<const double> of(const Problem& problem, Errors errors, const Numerics& numerics, int output) {
    if (const Legality has = problem.has_bounds(numerics); !has) throw BadInput("a kernel's numerics: " + has.why);
    if (problem.by_formula(numerics)) {
      const Numerics read = problem.words_read(numerics).value_or(numerics);
      const Kept& kept = find(read, errors, kAllOutputs, [&] { return problem.bounds_by_formula(errors, read); });
      return kept.bounds[static_cast<std::size_t>(output)].values();
    }
    const std::size_t n = problem.golden(output).size();
    if (!problem.rows().all() || n > kMostKept) return {};
    const auto ask = [&] {
      std::vector<LazyArray> bounds;
      const std::span<double> all = bounds.emplace_back(n, true).values();
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < n; ++i) all[i] = problem.bound_with(errors, numerics, output, static_cast<std::int64_t>(i));
      return bounds;
    };
    return find(numerics, errors, output, ask).bounds[0].values();
  }

 private:
  static constexpr int kAllOutputs = -1;
  struct Kept {
    Numerics numerics;
    Errors errors;
    int output;
    std::once_flag made{};
    std::vector<LazyArray> bounds{};  // of this output, or of each
  };

  template <class Make>
  const Kept& find(const Numerics& numerics, Errors errors, int output, Make&& make) {
    std::unique_lock lock(mutex_);
    auto at = std::find_if(kept_.begin(), kept_.end(),
                           [&](const Kept& k) { return k.output == output && k.errors == errors && k.numerics == numerics; });
    if (at == kept_.end()) at = kept_.emplace(kept_.end(), numerics, errors, output);
    lock.unlock();
    std::call_once(at->made, [&] { at->bounds = make(); });
    return *at;
  }

  std::mutex mutex_;
  std::list<Kept> kept_;  // a list, since spans refer to its elements
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
