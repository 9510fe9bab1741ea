// SPDX-License-Identifier: Apache-2.0
// Tests that problems are solved by their formula when the judge is told so (judge_by_formulas).
#include <cmath>

#include "reference/tests/formula_testing.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/problem/typed/op_adapter.hpp"

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

// A product with a computed factor: y[r] = sum_c exp(x[r,c]) weight[c].
struct FormulaOnly {
  struct Args {
    Tensor x, weight, y;
  };
  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};
  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.weight("weight", a.weight, {Axis::cols});
    v.output("y", a.y, {Axis::rows});
  }
};
struct WithBound : FormulaOnly {
  static constexpr double kBound = 1000;
  struct Golden {
    Array y;
  };
  using FormulaOnly::bind;
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::rows});
  }
  static Legality legal(const Args&) { return Legality::yes(); }
  static double bound(const Args&, const Golden&, const Numerics&, Errors, int, std::int64_t) { return kBound; }
  static Cost cost(const Args&) { return {}; }
};

void write(const FormulaOnly::Args&, formula::Formula& f) {
  f.out("y", formula::sum(formula::Axis("cols"))(exp(f.in("x")) * f.in("weight")));
}
const LinkedGolden<WithBound> golden_beside([](const WithBound::Args&, WithBound::Golden&, const Rows&) {},
                                            [](const WithBound::Args&, const Rows&) { return 0.0; });

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

TEST_CASE("formulas: numerics without a rule have the contract's bound, if there is one", "[formula]") {
  const formula::NamedFormula* const of_ops = formula::NamedFormula::first;
  const formula::LinkedFormula<FormulaOnly> formula_alone("formula_only", write);
  const formula::LinkedFormula<WithBound> formula_beside("with_bound", write);
  formula::NamedFormula::first = of_ops;  // these two are no ops of the tree

  float x[] = {1, 2, 3, 4, 5, 6}, weight[] = {1, 2, 3}, y[2] = {};
  const auto solved = [&]<class Op>(TypedProblem<Op>& problem) {
    const std::span<Tensor* const> tensors = problem.tensors();
    *tensors[0] = {.data = x, .rank = 2, .shape = {2, 3}, .stride = {3, 1}};
    *tensors[1] = {.data = weight, .rank = 1, .shape = {3}, .stride = {1}};
    *tensors[2] = {.data = y, .rank = 1, .shape = {2}, .stride = {1}};
    problem.solve({});
  };
  const Numerics without_rule{.narrow_probabilities = true};
  TypedProblem<WithBound> with_bound;
  {
    const ByFormulas yes;
    solved(with_bound);
  }
  CHECK(with_bound.by_formula({}));
  CHECK_FALSE(with_bound.by_formula(without_rule));
  CHECK(with_bound.has_bounds(without_rule));
  CHECK(with_bound.bound(without_rule, 0, 1) == WithBound::kBound);
  CHECK(with_bound.bound({}, 0, 1) < WithBound::kBound);

  TypedProblem<FormulaOnly> alone;
  solved(alone);
  CHECK(alone.golden(0)[1] == with_bound.golden(0)[1]);
  CHECK(alone.bound({}, 0, 1) == with_bound.bound({}, 0, 1));
  CHECK(alone.has_bounds({}));
  CHECK_FALSE(alone.has_bounds(without_rule));
  CHECK_THROWS_WITH(alone.bound(without_rule, 0, 1), "a kernel's numerics: narrow_probabilities has no rule");
}

TEST_CASE("formulas: a case without elements is solved", "[formula]") {
  const ByFormulas yes;
  const Case c = case_of("linear", "linear f16 tokens=0 hidden=17 out=5 seed=3");
  const test::FilledCase filled(*find_op("linear"), c);
  filled.problem().solve();
  CHECK(filled.problem().golden(0).empty());
}

}  // namespace assay
