// SPDX-License-Identifier: Apache-2.0
// Tests formulas against the goldens and bounds that were made by hand: values agree to 1e-12 of the magnitudes, and derived
// bounds are as tight.  With [.table] it prints, per op and numerics, the ratio of derived to hand-made bounds.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include <fmt/core.h>

#include "catch_shim.hpp"
#include "reference/tests/formula_testing.hpp"
#include "validate/problem/numerics_text.hpp"

namespace assay {
namespace {

using namespace formula;

// By numerics, in words: the derived bounds over those made by hand.
using Ratios = std::map<std::string, std::vector<double>>;

struct Compared {
  std::int64_t values = 0;
  std::int64_t exact = 0;  // derived bounds that allow nothing
  Ratios ratios;
};

std::vector<Numerics> numerics_of(std::string_view op) {
  std::vector<Numerics> list;
  for (const Kernel& k : built_in_kernels())
    if (k.op == op && !k.broken && std::find(list.begin(), list.end(), k.numerics) == list.end()) list.push_back(k.numerics);
  return list;
}

Compared compare(const Op& op, const std::vector<Case>& cases, std::int64_t most_elements) {
  const std::vector<Numerics> all = numerics_of(op.name);
  Compared result;
  for (const Case& drawn : cases) {
    const Case c = test::fewer_rows(drawn, op.shape(), most_elements);
    if (elements(c, op.shape()) == 0 || elements(c, op.shape()) > 4 * most_elements || overflows(c, op.shape())) continue;
    test::FilledCase made(op, c);
    if (!made.problem().legal()) continue;
    made.problem().solve();
    const Errors errors = find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent;
    made.problem().set_errors(errors);
    const Graph g = test::trace(made);
    std::vector<Declared> declared;
    for (const Numerics& n : all)
      if (has_rules(g, n)) declared.push_back({n, errors, c.dtype});
    const std::vector<Answer> answers = evaluate(g, test::inputs_of(g, made), made.problem().rows(), declared);
    for (std::size_t o = 0; o < answers.size(); ++o) {
      const std::span<const double> golden = made.problem().golden(static_cast<int>(o));
      for (std::size_t i = 0; i < golden.size(); ++i, ++result.values) {
        const double value = answers[o].values[i];
        // The bound of a serial sum in f32 is at least 2^-24 of the magnitudes.
        const double tolerance = 1e-12 / 0x1p-24 * made.problem().bound({}, static_cast<int>(o), static_cast<std::int64_t>(i));
        const bool same =
            value == golden[i] || (std::isnan(value) && std::isnan(golden[i])) || std::fabs(value - golden[i]) <= tolerance;
        if (!same) FAIL(repro(c, op.shape()) << " element " << i << ": golden " << golden[i] << ", formula " << value);
        if (!std::isfinite(value)) continue;
        for (std::size_t k = 0; k < declared.size(); ++k) {
          const double by_hand = made.problem().bound(declared[k].numerics, static_cast<int>(o), static_cast<std::int64_t>(i));
          const double derived =
              rounded_last(g.outputs[o].dtype, declared[k].numerics.accumulate, value, answers[o].errors[k][i]);
          if (std::isnan(derived) || derived < 0) FAIL(repro(c, op.shape()) << " element " << i << ": derived bound " << derived);
          // Of what is exact, or overflows in every kernel, there is no ratio of bounds.
          const double rounded = round_to(g.outputs[o].dtype, value);
          if ((derived == 0 && rounded != value && std::isfinite(rounded)) || (by_hand == 0 && derived > 0x1p-200))
            FAIL(repro(c, op.shape()) << " element " << i << ": derived bound " << derived << ", by hand " << by_hand);
          result.exact += derived == 0;
          const double ratio = derived == by_hand ? 1 : derived / by_hand;  // both may be infinite
          if (derived > 0 && by_hand > 0x1p-100) result.ratios[text_of(declared[k].numerics)].push_back(ratio);
        }
      }
    }
  }
  return result;
}

Compared compare(const Op& op, std::string_view suite, std::int64_t most_elements) {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  return compare(op, test::near_cases(datasets, op.shape(), suite, {.reduce = true}), most_elements);
}

double median(std::vector<double>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

}  // namespace

TEST_CASE("formulas: values are the goldens', and derived bounds are as tight as those made by hand", "[formula]") {
  int ops = 0;
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    if (find_op(f->op)->formula_alone) continue;  // nothing is made by hand
    ++ops;
    INFO(f->op);
    Compared result = compare(*find_op(f->op), "first", 40'000);
    CHECK(result.values > 5'000);
    REQUIRE((!result.ratios.empty() || result.exact > 5'000));
    for (auto& [numerics, ratios] : result.ratios) {
      INFO(numerics);
      CHECK(median(ratios) <= 1.1);
      CHECK(median(ratios) > 0.3);
    }
  }
  CHECK(ops >= 18);
}

// There the error of the mean is far above the deviation, and its square above variance and epsilon.
TEST_CASE("formulas: the bound of a row of equal elements is as tight under a mean that is off", "[formula]") {
  const Op& op = *find_op("layernorm");
  std::vector<Case> cases;
  for (const char* line : {"layernorm f16 rows=13 cols=257 epsilon=1e-12 fill=all_equal seed=3602235436",
                           "layernorm f32 rows=5 cols=4099 epsilon=1e-12 fill=all_equal seed=3"}) {
    const OpShape shapes[] = {op.shape()};
    cases.push_back(parse_repro(line, shapes).what);
  }
  Compared result = compare(op, cases, 100'000);
  REQUIRE(!result.ratios.empty());
  for (const auto& [numerics, ratios] : result.ratios) {
    INFO(numerics);
    CHECK(*std::max_element(ratios.begin(), ratios.end()) <= 1.1);
  }
}

TEST_CASE("formulas: the table of derived over hand-made bounds", "[.table]") {
  fmt::print("| op | numerics | median | largest |\n|---|---|---|---|\n");
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    const Op& op = *find_op(f->op);
    if (op.formula_alone) continue;
    for (auto& [numerics, ratios] : compare(op, "smoke", 200'000).ratios) {
      const double largest = *std::max_element(ratios.begin(), ratios.end());
      fmt::print("| `{}` | {} | {:.2f} | {:.2f} |\n", f->op, numerics, median(ratios), largest);
    }
  }
}

// CPU seconds of both over cases: values, and bounds of every element for all numerics.
TEST_CASE("formulas: CPU of evaluating against goldens and bounds made by hand", "[.cpu]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  const auto seconds = [](std::clock_t from, std::clock_t to) { return static_cast<double>(to - from) / CLOCKS_PER_SEC; };
  double sum = 0;
  const auto time = [&](const Op& op, const Case& c, double& by_hand, double& derived) {
    test::FilledCase made(op, c);
    if (!made.problem().legal()) return;
    const Graph g = test::trace(made);
    std::vector<Declared> declared;
    for (const Numerics& n : numerics_of(op.name))
      if (has_rules(g, n)) declared.push_back({n, Errors::independent, c.dtype});
    const std::clock_t begun = std::clock();
    made.problem().solve();
    for (const Declared& d : declared)
      for (std::size_t o = 0; o < g.outputs.size(); ++o)
        for (std::size_t i = 0; i < made.problem().golden(static_cast<int>(o)).size(); ++i)
          sum += made.problem().bound(d.numerics, static_cast<int>(o), static_cast<std::int64_t>(i));
    const std::clock_t middle = std::clock();
    const std::vector<Answer> answers = evaluate(g, test::inputs_of(g, made), made.problem().rows(), declared);
    by_hand += seconds(begun, middle);
    derived += seconds(middle, std::clock());
    sum += answers[0].values.empty() ? 0 : answers[0].values[0];
  };
  const auto print = [&](std::string_view what, double by_hand, double derived) {
    fmt::print("{}: by hand {:.2f} s, derived {:.2f} s, {:.2f} times\n", what, by_hand, derived, derived / by_hand);
  };
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    const Op& op = *find_op(f->op);
    if (op.formula_alone) continue;
    double by_hand = 0, derived = 0;
    for (const Case& drawn : test::near_cases(datasets, op.shape(), "smoke", {.reduce = true})) {
      const Case c = test::fewer_rows(drawn, op.shape(), 200'000);
      if (elements(c, op.shape()) > 0 && elements(c, op.shape()) <= 800'000) time(op, c, by_hand, derived);
    }
    print(op.name, by_hand, derived);
  }
  const Op& attention = *find_op("attention_forward");
  for (const char* text : {"attention_forward f16 batch=1 seq_q=8192 seq_k=8192 heads=1 kv_heads=1 head_dim=64 mask=causal",
                           "attention_forward f16 batch=4 seq_q=512 seq_k=512 heads=2 kv_heads=1 head_dim=64 packed=yes",
                           "attention_forward f16 batch=8 seq_q=1 seq_k=8192 heads=8 kv_heads=2 head_dim=64"}) {
    double by_hand = 0, derived = 0;
    const OpShape shapes[] = {attention.shape()};
    time(attention, parse_repro(text, shapes).what, by_hand, derived);
    print(text, by_hand, derived);
  }
  CHECK(sum != 0);
}

}  // namespace assay
