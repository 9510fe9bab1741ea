// SPDX-License-Identifier: Apache-2.0
// What a formula gives beside values and bounds: the second oracle, costs, memory, and what the judge knows of an op from it.
#include <cmath>

#include "ops/core/one_lower.hpp"
#include "reference/formula/rounded.hpp"
#include "reference/formula/shapes.hpp"
#include "reference/tests/formula_testing.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/relations.hpp"
#include "validate/values/common_fills.hpp"

namespace assay {
namespace {

Case case_of(std::string_view line) {
  const OpShape shapes[] = {find_op(line.substr(0, line.find(' ')))->shape()};
  return parse_repro(line, shapes).what;
}

std::vector<double> rounded(const test::FilledCase& c, DType storage, const Numerics& numerics, Roundings roundings) {
  const formula::Graph g = test::trace(c);
  std::vector<double> y(static_cast<std::size_t>(g.size(formula::set_of(g.outputs[0].axes))));
  const std::span<double> written[] = {y};
  formula::evaluate_rounded(g, test::inputs_of(g, c), storage, numerics, roundings, written);
  return y;
}

TEST_CASE("formulas: evaluated term by term without roundings they give the golden", "[formula]") {
  for (const char* line : {"add bf16 rows=5 cols=33 seed=3", "linear f16 tokens=3 hidden=65 out=5 bias=yes seed=3",
                           "linear f32 tokens=3 hidden=65 out=5 seed=4", "softmax f16 rows=5 cols=33 seed=3",
                           "softmax bf16 rows=5 cols=33 fill=inf_in_row seed=3", "row_reduce f16 rows=5 cols=33 what=sum seed=3",
                           "row_reduce bf16 rows=5 cols=33 what=max seed=3"}) {
    INFO(line);
    const Case c = case_of(line);
    const Op& op = *find_op(c.op);
    const test::FilledCase filled(op, c);
    filled.problem().solve();
    const std::vector<double> exact = rounded(filled, c.dtype, {}, Roundings::exact);
    const std::span<const double> golden = filled.problem().golden(0);
    for (std::size_t i = 0; i < exact.size(); ++i)
      CHECK((!std::isfinite(golden[i]) || std::fabs(exact[i] - golden[i]) <= 1e-13 * (1 + std::fabs(golden[i]))));
  }
}

TEST_CASE("formulas: an output is rounded once, whatever another output does with it", "[formula]") {
  using formula::Axis, formula::Array;
  std::vector<double> x = {1.0625, 1.1875, -1.3125}, y(3);
  formula::Formula f;
  const Tensor t{.data = x.data(), .dtype = f64, .rank = 1, .shape = {3}, .stride = {1}};
  f.declare_input("x", {"cols"}, t);
  f.declare_output("y", {"cols"}, t);
  f.declare_output("top", {}, Tensor{.dtype = f64});
  const Array product = f.in("x") * 1.015625;
  f.out("y", take(-product, Axis("cols"), f.index(Axis("cols"))));
  f.out("top", log(formula::max(Axis("cols"))(absolute(product))));
  const Tensor inputs[] = {t};
  const std::span<double> written[] = {y};
  formula::evaluate_rounded(f.graph(), inputs, f16, {}, Roundings::one_lower, written);
  for (std::size_t i = 0; i < 3; ++i) CHECK(y[i] == -round_to(one_lower(f16), x[i] * 1.015625));
}

TEST_CASE("formulas: one precision lower is what a bound rejects, also where a formula rounds once", "[formula]") {
  for (const char* line : {"add bf16 rows=5 cols=33 seed=3", "add f16 rows=5 cols=33 seed=3", "add f32 rows=5 cols=33 seed=3",
                           "l2norm f16 rows=5 cols=33 seed=3", "l2norm f32 rows=5 cols=33 seed=3"}) {
    INFO(line);
    const Case c = case_of(line);
    const test::FilledCase filled(*find_op(c.op), c);
    filled.problem().solve();
    const auto wrong = [&](Roundings roundings) {
      const std::vector<double> y = rounded(filled, c.dtype, {}, roundings);
      int outside = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::fabs(round_to(c.dtype, y[i]) - filled.problem().golden(0)[i]);
        outside += error > filled.problem().bound({}, 0, static_cast<std::int64_t>(i));
      }
      return outside;
    };
    CHECK(wrong(Roundings::declared) == 0);
    CHECK(wrong(Roundings::one_lower) > 0);
  }
}

TEST_CASE("formulas: costs are counted from shapes", "[formula]") {
  for (const char* line : {"add f16 rows=5 cols=33", "linear f16 tokens=3 hidden=65 out=5", "softmax f32 rows=5 cols=33",
                           "rmsnorm bf16 rows=5 cols=33"}) {
    INFO(line);
    const Case c = case_of(line);
    const test::FilledCase filled(*find_op(c.op), c);
    const Cost by_hand = filled.problem().cost(), counted = formula::facts_of(test::trace(filled), find_op(c.op)->axes).cost;
    CHECK(counted.bytes_read == by_hand.bytes_read);
    CHECK(counted.bytes_written == by_hand.bytes_written);
    CHECK(counted.unfused_bytes >= counted.bytes());
    CHECK((counted.flops >= by_hand.flops / 2 && counted.flops <= 5 * by_hand.flops));
  }
}

TEST_CASE("formulas: along which axes sums run", "[formula]") {
  const auto facts = [](std::string_view line) {
    const Case c = case_of(line);
    return formula::facts_of(test::trace(test::FilledCase(*find_op(c.op), c)), find_op(c.op)->axes);
  };
  using Axes = std::vector<std::string>;
  const FormulaFacts of_softmax = facts("softmax f32 rows=5 cols=33");
  CHECK(of_softmax.summed == Axes{"cols"});
  CHECK_FALSE(of_softmax.only_sums);
  const FormulaFacts of_linear = facts("linear f32 tokens=3 hidden=5 out=4 bias=yes");
  CHECK(of_linear.summed == Axes{"hidden"});
  CHECK((of_linear.only_sums && of_linear.last_addend == "bias"));
  CHECK(facts("linear f32 tokens=3 hidden=5 out=4").last_addend.empty());
  const FormulaFacts of_maximum = facts("row_reduce f32 rows=3 cols=5 what=max");
  CHECK(of_maximum.summed.empty());
}

// The first output of a case, and the same without the last index of an axis.
struct Dropped {
  std::vector<double> whole, part;
  Dropped(std::string_view line, std::string_view axis) {
    const Case c = case_of(line);
    const Op& op = *find_op(c.op);
    const test::FilledCase filled(op, c);
    whole = rounded(filled, c.dtype, {}, Roundings::exact);
    part = whole;
    op.formula.without_last(filled.problem().args(), axis, part);
  }
  // The elements that differ.
  std::vector<std::size_t> changed() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (std::fabs(whole[i] - part[i]) > 1e-12 * std::fabs(whole[i])) places.push_back(i);
    return places;
  }
};

TEST_CASE("formulas: an answer whose sums lack their last term", "[formula]") {
  CHECK(Dropped("linear f32 tokens=3 hidden=5 out=4", "hidden").changed().size() == 12);
  // The last column of a softmax keeps its value.
  const Dropped softmax("softmax f32 rows=2 cols=3", "cols");
  CHECK(softmax.changed() == std::vector<std::size_t>{0, 1, 3, 4});
  for (const std::size_t row : {0, 3}) CHECK(std::fabs(softmax.part[row] + softmax.part[row + 1] - 1) < 1e-12);
  // The last key is seen by the last query alone, whose place does not move with the number of keys; the default scale stays.
  const std::string attention = "attention_forward f32 batch=1 seq_q=2 seq_k=3 heads=1 kv_heads=1 head_dim=4";
  CHECK(Dropped(attention + " mask=causal", "seq_k").changed() == std::vector<std::size_t>{4, 5, 6, 7});
  CHECK(Dropped(attention, "head_dim").part == Dropped(attention + " scale=0.5", "head_dim").part);
  // A target may be the last class.
  CHECK(Dropped("cross_entropy f32 tokens=2 vocab=3", "vocab").changed().empty());
  CHECK(Dropped("add f32 rows=2 cols=3", "cols").changed().empty());
}

TEST_CASE("formulas: what an op's formula says of it", "[formula]") {
  const Op& op = *find_op("l2norm");
  CHECK(op.formula.summed == std::vector<Axis>{Axis::cols});
  CHECK(op.formula.oracle);
  CHECK_FALSE(op.formula.only_sums);
  CHECK(op.formula.last_addend.empty());
  std::vector<std::string_view> names;
  for (const Relation& r : all_relations(op, {})) {
    names.push_back(r.name);
    CHECK(r.bits == (r.name != "cols_permuted"));
  }
  CHECK(names == std::vector<std::string_view>{"rows_permuted", "cols_permuted", "first_rows", "x_doubled"});
  // Squares of the largest bf16 and f32 overflow f32, those of f16 do not.
  for (const Fill& fill : common_fills())
    for (const DType t : kActivationDTypes)
      CHECK(op.formula.shows_nothing(fill.name, t) == (fill.name == "extremes" && t != f16));
}

TEST_CASE("formulas: a fill shows nothing in an op of stages if it does not where its inputs are read", "[formula]") {
  const Op& layer = *find_op("transformer_layer");
  for (const DType t : kActivationDTypes) {
    CHECK(layer.formula.shows_nothing("extremes", t) == (t != f16));
    // The product of a later stage would have zeros of it alone.
    CHECK_FALSE(layer.formula.shows_nothing("subnormals", t));
  }
}

}  // namespace
}  // namespace assay
