// SPDX-License-Identifier: Apache-2.0
// Tests which words of numerics a formula reads, word by word: without those that it does not read its bounds are the same, and
// with one word more they are no narrower, so that a kernel of fewer words meets them too (validate/judge/declared.hpp).
#include <algorithm>
#include <cmath>
#include <string>

#include "reference/tests/formula_testing.hpp"
#include "validate/judge/declared.hpp"
#include "validate/problem/numerics/habits.hpp"
#include "validate/problem/numerics/numerics_text.hpp"

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
    if (elements(c, op.shape()) == 0 || elements(c, op.shape()) > 32'000 || op.formula.shows_nothing(c.fill, c.dtype)) continue;
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
  for (const Answer& a : answers)
    for (const double error : a.errors[declared]) all.push_back(std::isnan(error) ? kInfinity : error);  // no value is wrong
  return all;
}

// Declarations of one word each, of all that add to a bound, and of all at once, as far as there are rules for them.
std::vector<Numerics> all_said(const Op& op, const Graph& g) {
  std::vector<Numerics> all{{}, {.chain = {4, 2}}, {.function_error = 64}};
  Numerics every;
  for (const std::string& habit : habits(op)) {
    all.push_back(*with_habit({}, habit));
    Numerics more = with_habit(every, habit).value_or(every);
    if (more.accumulate == f32 && more.factors == Factors{} && has_rules(g, more)) every = more;
  }
  all.push_back(every);
  every.cancelling_gelu = every.tanh_sigmoid = every.folded_affine = every.running_moments = false;
  every.ways = {};
  all.push_back(every);
  std::erase_if(all, [&](const Numerics& n) { return !has_rules(g, n); });
  return all;
}

}  // namespace

TEST_CASE("words: bounds are the same without those that a formula does not read", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    INFO(f->op);
    int compared = 0;
    const Op& op = *find_op(f->op);
    each_small_case(op, [&](const Graph& g, const std::vector<Tensor>& inputs, const Rows& rows, DType storage) {
      std::vector<formula::Declared> declared;
      for (const Numerics& n : all_said(op, g)) {
        const Numerics read = words_read(g, storage, n);
        if (read == n) continue;
        for (const Errors errors : {Errors::independent, Errors::coherent})
          for (const Numerics& of : {n, read}) declared.push_back({of, errors, storage});
      }
      const std::vector<Answer> answers = evaluate(g, inputs, rows, declared);
      for (std::size_t k = 0; k + 1 < declared.size(); k += 2, ++compared) {
        INFO(text_of(declared[k].numerics));
        CHECK(all_errors(answers, k) == all_errors(answers, k + 1));
      }
    });
    CHECK(compared > 20);
  }
}

TEST_CASE("words: steps have the names and the reach that the formula gives them", "[formula]") {
  const auto steps = [](const char* op) {
    std::string text;
    for (const FormulaStep& s : find_op(op)->formula.steps)
      text += s.name + (s.is_summed ? " summed" : "") + (s.has_own_sums ? " of sums, " : ", ");
    return text;
  };
  CHECK(steps("add") == "");
  CHECK(steps("rmsnorm") == "xhat, ");
  CHECK(steps("softmax") == "exps, ");
  CHECK(steps("ffn_gelu") == "z of sums, h summed of sums, before_b1 of sums, before_b2 of sums, ");
  CHECK(steps("rmsnorm_gemm") == "n summed, scaled_weight summed, ");
  CHECK(steps("attention_forward") == "scores of sums, exps summed of sums, weights summed of sums, rotated summed, ");
  CHECK(steps("attention_backward") == "p of sums, ds summed of sums, scaled_ds summed of sums, p_of_dv summed of sums, ");
  CHECK(find_op("layernorm_linear")->formula.ways == std::vector<std::string>{"folded"});
}

TEST_CASE("words: a declaration is read as the steps that a graph has, in the dtype in which they are stored", "[formula]") {
  std::vector<double> x = {1.0 / 3}, y(1);
  Formula f;
  f.declare_input("x", {"rows"}, test::vector_of(x));
  f.declare_output("y", {"rows"}, test::vector_of(y));
  f.out("y", step("b", step("a", f.in("x") * 3) + 1) * 7);
  const Graph g = f.graph();
  const auto read = [&](std::string_view stores, DType storage) { return words_read(g, storage, {.stores = stores}).stores; };
  CHECK(read("all", f16) == "a,b");
  CHECK(read("b,c", f16) == "b");
  CHECK(read("a,b:bf16", f16) == "a,b:bf16");
  CHECK(read("a,b:bf16", f32) == "b:bf16");
  CHECK(read("b:f32", f16) == "");
  const Tensor inputs[] = {test::vector_of(x)};
  const auto error = [&](std::string_view stores) {
    const formula::Declared declared[] = {{{.stores = stores}, Errors::independent, f16}};
    return evaluate(g, inputs, {.total = 1}, declared)[0].errors[0][0];
  };
  CHECK(error("b:bf16") > 6 * error("b"));
  CHECK(error("b") > 100 * error(""));
  CHECK(error("b:f32") == error(""));
}

TEST_CASE("words: bounds are not narrower with one more, unless it stands for another way to compute", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    INFO(f->op);
    int compared = 0;
    const Op& op = *find_op(f->op);
    each_small_case(op, [&](const Graph& g, const std::vector<Tensor>& inputs, const Rows& rows, DType storage) {
      const std::vector<Numerics> all = all_said(op, g);
      for (const Errors errors : {Errors::independent, Errors::coherent}) {
        std::vector<formula::Declared> declared;
        for (const Numerics& n : all) declared.push_back({n, errors, storage});
        const std::vector<Answer> answers = evaluate(g, inputs, rows, declared);
        for (std::size_t loose = 0; loose < all.size(); ++loose)
          for (std::size_t tight = 0; tight < all.size(); ++tight) {
            if (loose == tight || !allows_more(all[loose], all[tight])) continue;
            const std::vector<double> more = all_errors(answers, loose), less = all_errors(answers, tight);
            std::size_t narrower = 0;
            for (std::size_t i = 0; i < more.size(); ++i) narrower += more[i] < less[i] * (1 - 1e-9);
            INFO(text_of(all[loose]) << " beside " << text_of(all[tight]));
            CHECK(narrower == 0);
            ++compared;
          }
      }
    });
    CHECK(compared > 20);
  }
}

}  // namespace assay
