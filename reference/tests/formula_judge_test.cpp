// SPDX-License-Identifier: Apache-2.0
// Tests that problems are solved by their formula when the judge is told so (judge_by_formulas).
#include <cmath>

#include "reference/tests/formula_testing.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/bounds.hpp"

namespace assay {
namespace {

struct ByFormulas {
  ByFormulas() { judge_by_formulas(true); }
  ~ByFormulas() { judge_by_formulas(false); }
};

Case case_of(std::string_view op, std::string_view line) {
  const OpShape shapes[] = {find_op(op)->shape()};
  return parse_repro(line, shapes).what;
}

}  // namespace

TEST_CASE("formulas: a problem has the formula's values and bounds if it is judged by formulas", "[formula]") {
  for (const auto& [op_name, line] :
       {std::pair{"softmax", "softmax f16 rows=5 cols=33 seed=3"},
        std::pair{"attention_forward",
                  "attention_forward bf16 batch=2 seq_q=7 seq_k=9 heads=2 kv_heads=1 head_dim=8 mask=causal seed=3"},
        std::pair{"linear", "linear f32 tokens=300 hidden=1024 out=600 seed=3"}}) {  // too large for its values to be kept
    INFO(op_name);
    const Op& op = *find_op(op_name);
    const Case c = case_of(op_name, line);
    const test::FilledCase by_hand(op, c);
    by_hand.problem().solve();
    const Numerics numerics{.accumulate = f32, .chain = {32, 5}};
    CHECK_FALSE(by_hand.problem().by_formula(numerics));

    const ByFormulas yes;
    const test::FilledCase filled(op, c);
    for (const std::vector<std::int64_t>& sample : {std::vector<std::int64_t>{}, std::vector<std::int64_t>{1, 4}}) {
      Problem& problem = filled.problem();
      problem.solve(sample);
      REQUIRE(problem.by_formula(numerics));
      const formula::Graph g = test::trace(filled);
      const formula::Declared declared[] = {{numerics, problem.errors(), c.dtype}};
      const std::vector<formula::Answer> answers = formula::evaluate(g, test::inputs_of(g, filled), problem.rows(), declared);
      for (int o = 0; o < static_cast<int>(answers.size()); ++o) {
        const auto& [values, errors] = answers[static_cast<std::size_t>(o)];
        const SolvedElements solved(problem, o, static_cast<std::int64_t>(values.size()));
        REQUIRE(solved.count() > 0);
        const Bounds bounds(problem, numerics, o);
        double apart = 0, bound_apart = 0;
        for (std::int64_t k = 0; k < solved.count(); ++k) {
          const auto i = static_cast<std::size_t>(solved[k]);
          const DType dtype = g.outputs[static_cast<std::size_t>(o)].dtype;
          const double bound = formula::rounded_last(dtype, numerics.accumulate, values[i], errors[0][i]);
          apart = std::max(apart, std::fabs(problem.golden(o)[i] - values[i]));
          bound_apart = std::max(bound_apart, std::fabs(bounds[solved[k]] - bound));
          bound_apart = std::max(bound_apart, std::fabs(problem.bound(numerics, o, solved[k]) - bound));
        }
        CHECK(apart == 0);
        CHECK(bound_apart == 0);
        CHECK(problem.bound(numerics, o, solved[0]) > 0);
      }
    }
  }
}

TEST_CASE("formulas: numerics without a rule have the contract's bound", "[formula]") {
  const Op& op = *find_op("linear");
  const Case c = case_of("linear", "linear f16 tokens=3 hidden=17 out=5 seed=3");
  Numerics numerics;
  numerics.narrow_probabilities = true;
  const test::FilledCase by_hand(op, c);
  by_hand.problem().solve();
  const ByFormulas yes;
  const test::FilledCase filled(op, c);
  filled.problem().solve();
  REQUIRE_FALSE(filled.problem().by_formula(numerics));
  CHECK(filled.problem().by_formula({}));
  for (std::int64_t i = 0; i < 15; ++i) CHECK(filled.problem().bound(numerics, 0, i) == by_hand.problem().bound(numerics, 0, i));
}

TEST_CASE("formulas: a case without elements is solved", "[formula]") {
  const ByFormulas yes;
  const Case c = case_of("linear", "linear f16 tokens=0 hidden=17 out=5 seed=3");
  const test::FilledCase filled(*find_op("linear"), c);
  filled.problem().solve();
  CHECK(filled.problem().golden(0).empty());
}

}  // namespace assay
