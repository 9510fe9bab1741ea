// SPDX-License-Identifier: Apache-2.0
// Tests which words of numerics a formula reads, word by word: without those that it does not read its bounds are the same, and
// with one word more they are no narrower, so that a kernel of fewer words meets them too (validate/judge/declared.hpp).
#include <algorithm>
#include <cmath>
#include <string>

#include "reference/tests/formula_testing.hpp"
#include "validate/problem/habits.hpp"
#include "validate/problem/numerics_text.hpp"

namespace assay {
namespace {

using namespace formula;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Cases of an op in `first`, cut to few elements, each with its graph.
template <class Visit>
void each_small_case(const Op& op, Visit&& visit) {
  static const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const Case& drawn : test::near_cases(datasets, op.shape(), "first", {.reduce = true})) {
    const Case c = test::fewer_rows(drawn, op.shape(), 2'000);
    if (elements(c, op.shape()) == 0 || elements(c, op.shape()) > 8'000 || overflows(c, op.shape())) continue;
    const test::FilledCase made(op, c);
    if (!made.problem().legal()) continue;
    made.problem().solve();
    const Graph g = test::trace(made);
    INFO(repro(c, op.shape()));
    visit(g, test::inputs_of(g, made), made.problem().rows(), c.dtype);
  }
}

std::vector<double> all_errors(const std::vector<Answer>& answers, std::size_t declared) {
  std::vector<double> all;
  for (const Answer& a : answers) all.insert(all.end(), a.errors[declared].begin(), a.errors[declared].end());
  return all;
}

// NaN, where no value is wrong, is as infinity.
double as_bound(double error) { return std::isnan(error) ? kInfinity : error; }

}  // namespace

TEST_CASE("words: bounds are the same without those that a formula does not read, and not narrower with one more", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    INFO(f->op);
    each_small_case(*find_op(f->op), [&](const Graph& g, const std::vector<Tensor>& inputs, const Rows& rows, DType storage) {
      std::vector<std::string> words = {""};
      std::vector<bool> is_read = {false};
      std::vector<Declared> declared{{.numerics = {}, .storage = storage}};
      for (const std::string_view habit : habits()) {
        const Numerics with = *with_habit({}, habit);
        if (!has_rules(g, with)) continue;
        declared.push_back({.numerics = with, .storage = storage});
        words.emplace_back(habit);
        is_read.push_back(words_read(g, storage, with) != Numerics{});
      }
      const std::vector<Answer> answers = evaluate(g, inputs, rows, declared);
      const std::vector<double> without = all_errors(answers, 0);
      for (std::size_t k = 1; k < declared.size(); ++k) {
        const std::vector<double> with = all_errors(answers, k);
        std::size_t differ = 0, narrower = 0;
        for (std::size_t i = 0; i < with.size(); ++i) {
          differ += as_bound(with[i]) != as_bound(without[i]);
          narrower += as_bound(with[i]) < as_bound(without[i]) * (1 - 1e-9);
        }
        INFO(words[k]);
        if (!is_read[k]) CHECK(differ == 0);
        // Note: this one is another way to compute, whose errors are others.
        if (words[k] != "cancelling_gelu") CHECK(narrower == 0);
      }
    });
  }
}

}  // namespace assay
