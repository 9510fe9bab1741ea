// SPDX-License-Identifier: Apache-2.0
// A problem that a formula solves: its golden and bounds, kept until it is solved again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ops/core/formula_answers.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/problem/lazy_array.hpp"
#include "validate/problem/op.hpp"

namespace assay {

class FormulaProblem : public Problem {
 public:
  void solve(std::vector<std::int64_t> sample, Need need) override;
  const Rows& rows() const override { return rows_; }
  std::int64_t row_of(int output, std::int64_t i) const override { return of_own_row(rows_, i / of(output).last); }
  std::int64_t row_length(int output) const override { return of(output).rows <= rows_.total ? of(output).last : 0; }
  Legality has_bounds(const Numerics& n) const override { return answers_ ? answers_->has_rules(n) : Legality::yes(); }
  std::optional<Numerics> words_read(const Numerics& n) const override;
  std::span<const double> golden(int output) const override;
  std::span<const double> bounds_with(Errors errors, const Numerics& n, int output) const override;

 protected:
  virtual std::vector<Tensor> outputs() const = 0;  // of rank 0 where the case lacks one
  // The formula's answers for these rows; their values are written.
  virtual std::unique_ptr<FormulaAnswers> answers(const Rows&, std::span<const std::span<double>> values, Need) = 0;
  virtual Numerics words_read_of(const Numerics&) const = 0;

 private:
  // How many rows an output has, and how many elements one of them.
  struct Size {
    std::int64_t rows = 1, last = 1;
  };
  const Size& of(int output) const { return sizes_[static_cast<std::size_t>(output)]; }
  void need_solved() const;
  std::vector<LazyArray> bounds(Errors errors, const Numerics& n) const;

  Rows rows_{};
  std::vector<Size> sizes_{};
  std::vector<LazyArray> values_{};
  std::unique_ptr<FormulaAnswers> answers_;  // null before solve(), and where there are no elements
  std::unique_ptr<KeptBounds> bounds_;       // null before solve()
};

}  // namespace assay
