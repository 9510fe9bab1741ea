// SPDX-License-Identifier: Apache-2.0
// Relations: where the bits of two runs must agree, and where they need not.
#include <cmath>

#include "catch_shim.hpp"
#include "reference/formula/linked_formula.hpp"
#include "validate/problem/typed/op_adapter.hpp"
#include "validate/tests/problem/relation_testing.hpp"

namespace assay::test {
namespace {

// y[r,c] = x[r,0] + ... + x[r,c], one after the other.
struct RunningSum {
  struct Args {
    Tensor x, y;
  };
  static constexpr AxisUse axes[] = {{Axis::rows, 1}, {Axis::cols, 1}};
  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::rows, Axis::cols});
    v.output("y", a.y, {Axis::rows, Axis::cols});
  }
};
void write(const RunningSum::Args&, formula::Formula& f) {
  const formula::Formula::Next add = [&](std::span<const formula::Array> before) -> formula::Stepped {
    const formula::Array sum = before[0] + f.in("x");
    return {.states = {sum}, .outputs = {sum}};
  };
  f.out("y", f.scan(formula::Axis("cols"), {0.0}, add).outputs[0]);
}

}  // namespace

TEST_CASE("relation: bits are not asked beside a value out of range, nor of scaled f16 intermediates", "[relation]") {
  Kernel promises, stores;
  stores.numerics.stores = "gate,up";
  // What is said of a result that is one unit in the last place off.
  const auto said = [](const char* op_name, const char* relation, DType t, const char* fill, const Kernel& kernel) {
    const Op& op = *find_op(op_name);
    Case c = small_case(op, t);
    c.fill = fill;
    const Relation& r = *find_relation(op, c, relation);
    const Played original(op, c);
    Played other(op, *related_to(original, r));
    const std::int64_t at = largest(other.first);
    other.first.set(at, other.first.at(at) * (1 + 2 * unit_roundoff(t)));
    return judged(original, other, r, kernel);
  };
  const auto asks_bits = [](const std::string& why) { return why.find("must have the bits of") != std::string::npos; };
  CHECK(asks_bits(said("softmax", "rows_permuted", f32, "normal", promises)));
  CHECK(said("softmax", "rows_permuted", f32, "nan_in_row", promises).empty());
  CHECK(asks_bits(said("gemm_swiglu", "w_up_doubled", f16, "unit", promises)));
  CHECK_FALSE(asks_bits(said("gemm_swiglu", "w_up_doubled", f16, "unit", stores)));
  CHECK(asks_bits(said("gemm_swiglu", "w_up_doubled", bf16, "unit", stores)));
  CHECK(asks_bits(said("gemm_swiglu", "tokens_permuted", f16, "unit", stores)));
}

// A query that sees one key has a gradient of zero, of which rounded terms leave a rest.
TEST_CASE("relation: a rest that is zero only before it is doubled is no finding", "[relation]") {
  const Op& op = *find_op("attention_backward");
  Case c = small_case(op, f16);
  c.dims[Axis::seq_k] = 1;
  const Relation& r = *find_relation(op, c, "do_doubled");
  Played original(op, c), other(op, *related_to(original, r));
  original.first.set(0, 0);
  other.first.set(0, 0x1p-24);
  CHECK(judged(original, other, r, {}) == "");
  other.first.set(0, 0x1p-13);
  CHECK(judged(original, other, r, {}).find("must have the bits of 0") != std::string::npos);
}

TEST_CASE("relation: a weight of f16 is not scaled to the bit where its product with gamma may be rounded", "[relation]") {
  Kernel promises, rounds;
  rounds.numerics.stores = "scaled_weight";
  for (const char* name : {"rmsnorm_gemm", "layernorm_linear"}) {
    const Op& op = *find_op(name);
    const Relation& r = *find_relation(op, small_case(op, f16), "weight_doubled");
    CHECK(asks_bits(r, promises, f16));
    CHECK_FALSE(asks_bits(r, rounds, f16));
    CHECK(asks_bits(r, rounds, bf16));
    CHECK(asks_bits(r, rounds, f32));
  }
}

TEST_CASE("relation: of two zeros a maximum may be either, a copy only its own", "[relation]") {
  // What is said of one zero whose sign differs in the related run: one that has a bound, or one that has none.
  const auto said = [](const char* op_name, std::map<std::string, double> attributes, const char* relation, bool has_bound) {
    const Op& op = *find_op(op_name);
    Case c = small_case(op, f32);
    c.attributes = std::move(attributes);
    c.fill = "signed_zeros";
    const Relation permuted{.name = relation, .move = Relation::Move::permuted, .axis = op.axes[0].axis};
    for (c.seed = 1; c.seed <= 64; ++c.seed) {
      const Played original(op, c);
      Played other(op, *related_to(original, permuted));
      const std::span<const double> bounds = other.problem->bounds({}, 0);
      for (std::int64_t i = 0; i < other.first.size(); ++i) {
        if (other.first.at(i) != 0 || (bounds[static_cast<std::size_t>(i)] > 0) != has_bound) continue;
        other.first.set(i, std::signbit(other.first.at(i)) ? 0.0 : -0.0);
        return judged(original, other, permuted, {});
      }
    }
    return std::string("there is no such zero");
  };
  CHECK(said("row_reduce", {{"what", 1}}, "rows_permuted", true) == "");
  CHECK_THAT(said("embedding", {}, "tokens_permuted", false), Catch::Matchers::Contains("must have the bits of"));
}

TEST_CASE("relation: bits are not asked of what may overflow on its way", "[relation]") {
  const formula::NamedFormula* const of_ops = formula::NamedFormula::first;
  const formula::LinkedFormula<RunningSum> linked("running_sum", write);
  formula::NamedFormula::first = of_ops;  // it is no op of the tree
  const Op op = make_op<RunningSum>("running_sum");
  const auto times = [](double factor) {
    return Relation{.name = "scaled", .shows = "nothing", .scaled = {{"x", factor}, {"y", factor}}};
  };
  // What is said of a NaN in the related run at an element whose bound there is infinite, or is not.
  const auto said = [&](bool is_infinite) {
    Case c = small_case(op, f32);
    for (c.seed = 1; c.seed <= 64; ++c.seed) {
      const Played drawn(op, c);
      std::optional<Related> large = related_to(drawn, times(0x1p125));
      if (!large) continue;
      const Played original(op, std::move(*large));
      std::optional<Related> doubled = related_to(original, times(2));
      if (!doubled) continue;
      Played other(op, std::move(*doubled));
      const std::span<const double> bounds = other.problem->bounds({}, 0), before = original.problem->bounds({}, 0);
      for (std::int64_t i = 0; i < other.first.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (std::isinf(before[at]) || std::isinf(bounds[at]) != is_infinite || std::isinf(other.first.at(i))) continue;
        other.first.set(i, NAN);
        return judged(original, other, times(2), {});
      }
    }
    return std::string("there is no such element");
  };
  CHECK(said(true) == "");
  CHECK_THAT(said(false), Catch::Matchers::Contains("must have the bits of"));
}

}  // namespace assay::test
