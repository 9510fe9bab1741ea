// SPDX-License-Identifier: Apache-2.0
// Tests that problems are solved by their formulas.
#include <omp.h>

#include <cmath>

#include "reference/tests/formula_testing.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/problem/typed/op_adapter.hpp"

namespace assay {
namespace {

Case case_of(std::string_view op, std::string_view line) {
  const OpShape shapes[] = {find_op(op)->shape()};
  return parse_repro(line, shapes).what;
}

// A sum of what the op rounds: y[r] = sum_c f32(x[r,c] + weight[c]).
struct RoundedSum {
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
// y[c] = sum_r x[r,c], which is one row, and z[r,c] = x[r,c] / 2, which has several.
struct SumAndScaled {
  struct Args {
    Tensor x, y, z;
  };
  static constexpr AxisUse axes[] = {{Axis::rows, 0}, {Axis::cols, 0}};
  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::cols});
    v.output("z", a.z, {Axis::rows, Axis::cols});
  }
};
void write(const SumAndScaled::Args&, formula::Formula& f) {
  f.out("y", formula::sum(formula::Axis("rows"))(f.in("x")));
  f.out("z", f.in("x") * 0.5);
}
void write(const RoundedSum::Args&, formula::Formula& f) {
  f.out("y", formula::sum(formula::Axis("cols"))(formula::rounded_to(f32, f.in("x") + f.in("weight"))));
}
}  // namespace

TEST_CASE("formulas: a problem has the formula's values and bounds", "[formula]") {
  for (const auto& [op_name, line] :
       {std::pair{"softmax", "softmax f16 rows=5 cols=33 seed=3"},
        std::pair{"attention_forward",
                  "attention_forward bf16 batch=2 seq_q=7 seq_k=9 heads=2 kv_heads=1 head_dim=8 mask=causal seed=3"},
        std::pair{"linear", "linear f32 tokens=300 hidden=1024 out=600 seed=3"}}) {  // too large for its values to be kept
    INFO(op_name);
    const Op& op = *find_op(op_name);
    const Case c = case_of(op_name, line);
    const Numerics numerics{.accumulate = f32, .chain = {32, 5}};
    const test::FilledCase filled(op, c);
    for (const std::vector<std::int64_t>& sample : {std::vector<std::int64_t>{}, std::vector<std::int64_t>{1, 4}}) {
      Problem& problem = filled.problem();
      problem.solve(sample);
      REQUIRE(problem.has_bounds(numerics));
      const formula::Graph g = test::trace(filled);
      const formula::Declared declared[] = {{numerics, problem.errors(), c.dtype}};
      const std::vector<formula::Answer> answers = formula::evaluate(g, test::inputs_of(g, filled), problem.rows(), declared);
      for (int o = 0; o < static_cast<int>(answers.size()); ++o) {
        const auto& [values, errors] = answers[static_cast<std::size_t>(o)];
        const SolvedElements solved(problem, o, static_cast<std::int64_t>(values.size()));
        REQUIRE(solved.count() > 0);
        const std::span<const double> bounds = problem.bounds(numerics, o);
        double apart = 0, bound_apart = 0;
        for (std::int64_t k = 0; k < solved.count(); ++k) {
          const auto i = static_cast<std::size_t>(solved[k]);
          const DType dtype = g.outputs[static_cast<std::size_t>(o)].dtype;
          const double bound = formula::rounded_last(dtype, numerics.accumulate, values[i], errors[0][i]);
          apart = std::max(apart, std::fabs(problem.golden(o)[i] - values[i]));
          bound_apart = std::max(bound_apart, std::fabs(bounds[i] - bound));
        }
        CHECK(apart == 0);
        CHECK(bound_apart == 0);
        CHECK(problem.bound(numerics, o, solved[0]) > 0);
      }
    }
  }
}

TEST_CASE("formulas: numerics without a rule have no bounds", "[formula]") {
  const formula::NamedFormula* const of_ops = formula::NamedFormula::first;
  const formula::LinkedFormula<RoundedSum> linked("rounded_sum", write);
  formula::NamedFormula::first = of_ops;  // it is no op of the tree

  float x[] = {1, 2, 3, 4, 5, 6}, weight[] = {1, 2, 3}, y[2] = {};
  TypedProblem<RoundedSum> problem;
  const std::span<Tensor* const> tensors = problem.tensors();
  *tensors[0] = {.data = x, .rank = 2, .shape = {2, 3}, .stride = {3, 1}};
  *tensors[1] = {.data = weight, .rank = 1, .shape = {3}, .stride = {1}};
  *tensors[2] = {.data = y, .rank = 1, .shape = {2}, .stride = {1}};
  CHECK_THROWS_WITH(problem.golden(0), "the problem is not solved");
  problem.solve({}, Need::bounds);
  CHECK(problem.golden(0)[1] == 21);
  CHECK(problem.has_bounds({}));
  CHECK(problem.bound({}, 0, 1) > 0);
  const Numerics narrow{.accumulate = f16};
  CHECK_FALSE(problem.has_bounds(narrow));
  CHECK_THROWS_WITH(problem.bound(narrow, 0, 1), Catch::Matchers::Contains("has no rule for accumulators narrower than f32"));
}

TEST_CASE("formulas: a later output may have more rows than the first, and a last axis of its own", "[formula]") {
  const formula::NamedFormula* const of_ops = formula::NamedFormula::first;
  const formula::LinkedFormula<SumAndScaled> linked("sum_and_scaled", write);
  formula::NamedFormula::first = of_ops;

  float x[] = {1, 2, 3, 4, 5, 6}, y[2] = {}, z[6] = {};
  TypedProblem<SumAndScaled> problem;
  const std::span<Tensor* const> tensors = problem.tensors();
  *tensors[0] = {.data = x, .rank = 2, .shape = {3, 2}, .stride = {2, 1}};
  *tensors[1] = {.data = y, .rank = 1, .shape = {2}, .stride = {1}};
  *tensors[2] = {.data = z, .rank = 2, .shape = {3, 2}, .stride = {2, 1}};
  for (const std::vector<std::int64_t>& sample : {std::vector<std::int64_t>{}, std::vector<std::int64_t>{0}}) {
    problem.solve(sample, Need::bounds);
    CHECK(problem.golden(0)[1] == 12);
    const SolvedElements solved(problem, 1, 6);
    CHECK(solved.count() == 6);
    for (std::int64_t k = 0; k < solved.count(); ++k) {
      CHECK(problem.row_of(1, solved[k]) == 0);
      CHECK(problem.golden(1)[static_cast<std::size_t>(solved[k])] == 0.5 * x[solved[k]]);
    }
  }
}

TEST_CASE("formulas: values have the same bits whatever the number of threads", "[formula]") {
  std::vector<std::vector<double>> solved;
  const int before = omp_get_max_threads();
  for (const int threads : {1, 4}) {
    omp_set_num_threads(threads);
    for (const char* line :
         {"linear f16 tokens=64 hidden=600 out=33 seed=909187312", "linear f32 tokens=200 hidden=1000 out=300 seed=3"}) {
      const test::FilledCase filled(*find_op("linear"), case_of("linear", line));
      filled.problem().solve();
      const std::span<const double> golden = filled.problem().golden(0);
      solved.emplace_back(golden.begin(), golden.end());
    }
  }
  omp_set_num_threads(before);
  CHECK(solved[0] == solved[2]);
  CHECK(solved[1] == solved[3]);
}

TEST_CASE("formulas: a case without elements is solved", "[formula]") {
  const Case c = case_of("linear", "linear f16 tokens=0 hidden=17 out=5 seed=3");
  const test::FilledCase filled(*find_op("linear"), c);
  filled.problem().solve();
  CHECK(filled.problem().golden(0).empty());
}

}  // namespace assay
