// SPDX-License-Identifier: Apache-2.0
// Tests which words of numerics a formula reads, word by word: without those that it does not read its bounds are the same, and
// with one word more they are no narrower, so that a kernel of fewer words meets them too (validate/judge/declared.hpp).
#include <algorithm>
#include <cmath>
#include <string>

#include "reference/tests/formula_testing.hpp"
#include "validate/judge/declared.hpp"
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
std::vector<Numerics> all_said(const Graph& g) {
  std::vector<Numerics> all{{}, {.chain = {4, 2}}, {.function_error = 64}};
  Numerics every;
  for (const std::string_view habit : habits()) {
    all.push_back(*with_habit({}, habit));
    Numerics more = with_habit(every, habit).value_or(every);
    if (more.accumulate == f32 && more.factors == Factors{} && has_rules(g, more)) every = more;
  }
  all.push_back(every);
  every.cancelling_gelu = every.tanh_sigmoid = every.folded_affine = every.running_moments = every.rounds_weights = false;
  all.push_back(every);
  std::erase_if(all, [&](const Numerics& n) { return !has_rules(g, n); });
  return all;
}

}  // namespace

TEST_CASE("words: bounds are the same without those that a formula does not read", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    INFO(f->op);
    int compared = 0;
    each_small_case(*find_op(f->op), [&](const Graph& g, const std::vector<Tensor>& inputs, const Rows& rows, DType storage) {
      std::vector<formula::Declared> declared;
      for (const Numerics& n : all_said(g)) {
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

TEST_CASE("words: a step is stored by the words that it names, and by no other", "[formula]") {
  bool Numerics::*const kWords[] = {&Numerics::stores_intermediate, &Numerics::stores_every_step,    &Numerics::rounds_rotated,
                                    &Numerics::rounds_weights,      &Numerics::narrow_probabilities, &Numerics::scaled_gradients};
  for (std::size_t k = 0; k < kStoredNames.size(); ++k) {
    const auto stored = static_cast<Stored>(k);
    const std::vector<bool Numerics::*> named = words_of(stored);
    std::vector<bool> matters(std::size(kWords));
    for (unsigned said = 0; said < 64; ++said) {
      Numerics n;
      for (std::size_t w = 0; w < std::size(kWords); ++w) n.*kWords[w] = (said >> w & 1) != 0;
      for (std::size_t w = 0; w < std::size(kWords); ++w) {
        Numerics other = n;
        other.*kWords[w] = !(n.*kWords[w]);
        matters[w] = matters[w] || stores(n, stored) != stores(other, stored);
      }
    }
    INFO(kStoredNames[k]);
    for (std::size_t w = 0; w < std::size(kWords); ++w) CHECK(matters[w] == (std::ranges::count(named, kWords[w]) > 0));
  }
}

TEST_CASE("words: bounds are not narrower with one more, unless it stands for another way to compute", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    INFO(f->op);
    int compared = 0;
    each_small_case(*find_op(f->op), [&](const Graph& g, const std::vector<Tensor>& inputs, const Rows& rows, DType storage) {
      const std::vector<Numerics> all = all_said(g);
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
