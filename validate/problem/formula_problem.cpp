// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/formula_problem.hpp"

#include <stdexcept>

#include "validate/base/error.hpp"

namespace assay {

namespace {

std::vector<std::span<double>> not_empty(const std::vector<LazyArray>& arrays) {
  std::vector<std::span<double>> list;
  for (const LazyArray& a : arrays)
    if (!a.values().empty()) list.push_back(a.values());
  return list;
}

}  // namespace

void FormulaProblem::solve(std::vector<std::int64_t> sample, Need need) {
  bounds_.reset();
  answers_.reset();
  sizes_.clear();
  values_.clear();
  const std::vector<Tensor> tensors = outputs();
  for (const Tensor& t : tensors) {
    Size& size = sizes_.emplace_back();
    if (t.rank) size.last = t.shape[t.rank - 1];
    for (int i = 0; i + 1 < t.rank; ++i) size.rows *= t.shape[i];
  }
  rows_ = {.total = sizes_.front().rows, .sample = std::move(sample)};
  for (const Tensor& t : tensors) values_.emplace_back(t.rank ? static_cast<std::size_t>(t.size()) : 0, rows_.all());
  if (const auto values = not_empty(values_); !values.empty()) answers_ = answers(rows_, values, need);
  bounds_ = std::make_unique<KeptBounds>();
}

void FormulaProblem::need_solved() const {
  if (!bounds_) throw std::logic_error("the problem is not solved");
}

std::optional<Numerics> FormulaProblem::words_read(const Numerics& n) const {
  if (!bounds_) return words_read_of(n);
  return answers_ ? answers_->words_read(n) : n;
}

std::span<const double> FormulaProblem::golden(int output) const {
  need_solved();
  return values_.at(static_cast<std::size_t>(output)).values();
}

std::vector<LazyArray> FormulaProblem::bounds(Errors errors, const Numerics& n) const {
  std::vector<LazyArray> all;
  for (const LazyArray& values : values_) all.emplace_back(values.values().size(), rows_.all());
  if (answers_) answers_->bounds(errors, n, not_empty(all));
  return all;
}

std::span<const double> FormulaProblem::bounds_with(Errors errors, const Numerics& n, int output) const {
  need_solved();
  if (const Legality has = has_bounds(n); !has) throw BadInput("a kernel's numerics: " + has.why);
  const Numerics read = *words_read(n);
  return bounds_->of(errors, read, output, [&] { return bounds(errors, read); });
}

}  // namespace assay
