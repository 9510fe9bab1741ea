// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of goldens: f64 tensors over vectors, and the comparison of a golden with its oracle.
#pragma once

#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

#include "catch_shim.hpp"
#include "validate/cases/suite.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/layout.hpp"

namespace assay::test {

inline Tensor matrix(std::vector<double>& v, std::int64_t rows, std::int64_t cols) {
  return {.data = v.data(), .dtype = f64, .rank = 2, .shape = {rows, cols}, .stride = {cols, 1}};
}
inline Tensor vector_of(std::vector<double>& v) {
  return {.data = v.data(), .dtype = f64, .rank = 1, .shape = {static_cast<std::int64_t>(v.size())}, .stride = {1}};
}

// A matrix in f16.
class HalfMatrix {
 public:
  HalfMatrix(std::int64_t rows, std::int64_t cols, const std::vector<double>& values)
      : rows_(rows), cols_(cols), bits_(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) tensor().set(static_cast<std::int64_t>(i), values[i]);
  }
  Tensor tensor() const { return {.data = bits_.data(), .dtype = f16, .rank = 2, .shape = {rows_, cols_}, .stride = {cols_, 1}}; }

 private:
  std::int64_t rows_, cols_;
  mutable std::vector<std::uint16_t> bits_;  // mutable, since Tensor::data is not const
};

// The case with fewer tokens, rows or queries, so that golden and oracle are cheap; the bound does not depend on these extents.
inline Case fewer_rows(Case c, const OpShape& op, std::int64_t most_elements) {
  for (const Axis axis : {Axis::batch, Axis::tokens, Axis::rows, Axis::seq_q})
    if (const std::int64_t n = elements(c, op), extent = c.dims[axis]; extent > 1 && n > most_elements)
      c.dims[axis] = std::max<std::int64_t>(1, extent * most_elements / n);
  return c;
}

// A suite's cases without those whose rows lie far apart, for tests that have memory for whole tensors.
inline std::vector<Case> near_cases(const Datasets& datasets, const OpShape& op, std::string_view suite,
                                    const SuiteOptions& options) {
  std::vector<Case> all = cases(datasets, op, suite, options);
  std::erase_if(all, [](const Case& c) { return find_layout(c.layout)->far; });
  return all;
}

// A case's problem with its tensors in memory, inputs filled; not solved.
class FilledCase {
 public:
  FilledCase(const Op& op, const Case& c) : op_(op), problem_(op.make()) {
    const std::vector<Placement> placements = place(op, c);
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      images_.emplace_back(placements[i].bytes);
      fill_image(op, c, static_cast<int>(i), placements[i], images_.back().data(), {});
      pointers.push_back(images_.back().data());
    }
    attach(*problem_, c, placements, pointers);
  }
  const Op& op() const { return op_; }
  Problem& problem() const { return *problem_; }
  const Tensor& tensor(std::string_view name) const { return *problem_->tensors()[tensor_index(op_, name)]; }

 private:
  const Op& op_;
  std::unique_ptr<Problem> problem_;
  std::vector<std::vector<std::byte>> images_;
};

// Solves the smoke suite and a random suite by golden and by oracle; fails if they differ by more than two f64 computations may.
// Takes one of the three dtypes per shape, in turn.  Returns the number of elements compared.
inline std::int64_t golden_meets_oracle(std::string_view op_name) {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  const Op& op = *find_op(op_name);
  std::int64_t compared = 0, number = 0;
  for (const char* suite : {"smoke", "random"})
    for (const Case& drawn : near_cases(datasets, op.shape(), suite, {.seed = 5, .count = 90, .reduce = true})) {
      if (const std::int64_t n = number++; n % 3 != n / 3 % 3) continue;
      const Case c = fewer_rows(drawn, op.shape(), 200'000);
      if (elements(c, op.shape()) == 0) continue;
      const FilledCase filled(op, c);
      Problem* const problem = &filled.problem();
      problem->solve();
      problem->set_errors(Errors::coherent);  // the worst case
      std::vector<std::vector<double>> others;
      for (const TensorSpec& t : op.tensors)
        if (t.role == Role::output) others.emplace_back(problem->golden(static_cast<int>(others.size())).size());
      const std::vector<std::span<double>> written(others.begin(), others.end());
      op.formula.oracle(problem->args(), {}, Roundings::exact, written);
      for (int output = 0; output < static_cast<int>(others.size()); ++output) {
        const std::span<const double> golden = problem->golden(output), other = written[static_cast<std::size_t>(output)];
        for (std::size_t i = 0; i < golden.size(); ++i) {
          // Both err by about n u64 on cancelling sums; the f32 bound is 2^29 times wider, so a hundredth of it is ample.
          const double tolerance = 0.01 * problem->bound({.accumulate = f32}, output, static_cast<std::int64_t>(i));
          const bool same = golden[i] == other[i] || (std::isnan(golden[i]) && std::isnan(other[i])) ||
                            std::fabs(golden[i] - other[i]) <= tolerance;
          if (!same)
            FAIL(repro(c, op.shape()) << " output " << output << " element " << i << ": golden " << golden[i] << ", oracle "
                                      << other[i]);
          ++compared;
        }
      }
    }
  return compared;
}

}  // namespace assay::test
