// SPDX-License-Identifier: Apache-2.0
// Tests each constant of the rules of rows (softmax, logsumexp, means, norms), as formula_constants_test.cpp does those of
// numbers.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/rule_search.hpp"

namespace assay::formula {
namespace {

// A rule of one row, x, beside weights w.
struct OfRow {
  const char* name;
  std::size_t terms;
  double least, most;
  Numerics numerics;
  Array (*write)(Formula&, const Array& x, const Array& w);
  double (*honest)(const Inputs& x, double sign);
};

const Axis kTerms("terms");

// The first element of a row.
Array first(Formula& f, const Array& row) { return sum(kTerms)(where(f.index(kTerms) < 1, row, 0)); }
Array first_weight(Formula& f, const Array& x, const Array&) { return first(f, softmax(kTerms)(x)); }
Array mean(Formula&, const Array& x, const Array& w) { return sum(kTerms)(softmax(kTerms)(x) * w); }

// The exps of a row and their sum, each as `exponential` of the element and the row's maximum gives it.
template <class Exponential>
std::pair<std::vector<double>, double> exps_of(const Inputs& x, Exponential&& exponential) {
  const double top = *std::max_element(x.begin(), x.end());
  std::vector<double> exps;
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += exps.emplace_back(exponential(x[i], top, i));
  return {exps, total};
}
template <class Exponential>
double first_weight_by(const Inputs& x, Exponential&& exponential) {
  const auto [exps, total] = exps_of(x, exponential);
  return exps[0] / total;
}
template <class Exponential>
double mean_by(const Inputs& x, Exponential&& exponential) {
  const auto [exps, total] = exps_of(x, exponential);
  double mean = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean += exps[i] / total * weight(i);
  return mean;
}

const OfRow kOfRow[] = {
    {"softmax: exponents",
     2,
     -60,
     60,
     {.function_error = 0, .quotient_error = 0},
     first_weight,
     [](const Inputs& x, double) {
       return first_weight_by(x, [](double v, double top, std::size_t) { return exp_by_exp2(f32_of(v - top)); });
     }},
    {"softmax's quotient",
     3,
     -1,
     1,
     {.quotient_error = kLarge},
     first_weight,
     [](const Inputs& x, double sign) {
       return first_weight_by(x, [](double v, double top, std::size_t) { return std::exp(v - top); }) * (1 + sign * kOff);
     }},
    {"softmax: exp's own error",
     2,
     -10,
     10,
     {.function_error = kLarge},
     first_weight,
     [](const Inputs& x, double sign) {
       return first_weight_by(
           x, [=](double v, double top, std::size_t i) { return std::exp(v - top) * (1 + (i ? sign : -sign) * kOff); });
     }},
    {"softmax, subnormal",
     2,
     -50,
     50,
     {.function_error = 0, .quotient_error = 0},
     first_weight,
     [](const Inputs& x, double) {
       return f32_of(first_weight_by(x, [](double v, double top, std::size_t) { return std::exp(v - top); }));
     }},
    {"softmax: exp's own error where it is subnormal",
     2,
     -50,
     50,
     {.function_error = kLarge},
     first_weight,
     [](const Inputs& x, double sign) {
       return first_weight_by(x, [=](double v, double top, std::size_t) {
         const double e = std::exp(v - top);
         return e < 0x1p-126 ? e + sign * kLarge * kLow : e;
       });
     }},
    {"softmax, flushed",
     2,
     -60,
     60,
     {.flushes_subnormals = true},
     first_weight,
     [](const Inputs& x, double) {
       return first_weight_by(x, [](double v, double top, std::size_t) {
         const double e = std::exp(v - top);
         return e < 0x1p-126 ? 0.0 : e;
       });
     }},
    {"softmax of scores so coarse that others may be the largest",
     4,
     0,
     40,
     {},
     [](Formula& f, const Array& x, const Array&) { return first(f, softmax(kTerms)((x + 16 * kOneApart) - 16 * kOneApart)); },
     [](const Inputs& x, double) {
       Inputs coarse_scores;
       for (const double v : x) coarse_scores.push_back(f32_of(v + 16 * kOneApart) - 16 * kOneApart);
       return first_weight_by(coarse_scores, [](double v, double top, std::size_t) { return std::exp(v - top); });
     }},
    {"logsumexp of coarse terms",
     4,
     0,
     40,
     {},
     [](Formula&, const Array& x, const Array&) { return logsumexp(kTerms)((x + 16 * kOneApart) - 16 * kOneApart); },
     [](const Inputs& x, double) {
       double total = 0;
       for (const double v : x) total += std::exp(f32_of(v + 16 * kOneApart) - 16 * kOneApart);
       return std::log(total);
     }},
    {"logsumexp: exp's and log's own errors",
     3,
     -1,
     1,
     {.function_error = kLarge},
     [](Formula&, const Array& x, const Array&) { return logsumexp(kTerms)(x); },
     [](const Inputs& x, double sign) {
       const double top = *std::max_element(x.begin(), x.end()), off = 1 + sign * kOff;
       double total = 0;
       for (const double v : x) total += std::exp(v - top) * off;
       return top + std::log(total) * off;
     }},
    {"mean: exp's own error",
     2,
     -0.5,
     0.5,
     {.function_error = kLarge * kLarge},
     mean,
     [](const Inputs& x, double sign) {
       return mean_by(
           x, [=](double v, double top, std::size_t i) { return std::exp(v - top) * (1 + (i ? sign : -sign) * kLarge * kOff); });
     }},
    {"a folded affine that is subnormal",
     4,
     -0x1p-140,
     0x1p-140,
     {.folded_affine = true},
     [](Formula&, const Array& x, const Array& w) {
       const Array centred = x - formula::mean(kTerms)(x);
       return sum(kTerms)(centred * rsqrt(formula::mean(kTerms)(square(centred)) + 0.25) * (w * 0.03125) + x);
     },
     [](const Inputs& x, double) {
       const double row_mean = (x[0] + x[1] + x[2] + x[3]) / 4;
       double total = 0;
       for (std::size_t i = 0; i < x.size(); ++i) {
         const double scale = 2 * 0.03125 * weight(i);
         total += f32_of(x[i] * scale) + (x[i] - f32_of(row_mean * scale));
       }
       return total;
     }},
    {"mean by scores of which one is so coarse that either may have all the weight",
     2,
     0,
     3000,
     {},
     [](Formula& f, const Array& x, const Array& w) {
       const Array coarse_first = where(f.index(kTerms) < 1, (x + 2048 * kOneApart) - 2048 * kOneApart, x);
       return sum(kTerms)(softmax(kTerms)(coarse_first) * (w - 1.0625));
     },
     [](const Inputs& x, double) {
       const Inputs coarse_first{f32_of(x[0] + 2048 * kOneApart) - 2048 * kOneApart, x[1]};
       return mean_by(coarse_first, [](double v, double top, std::size_t) { return std::exp(v - top); }) - 1.0625;
     }},
    {"mean: scores far from 0",
     2,
     2000,
     2001,
     {},
     mean,
     [](const Inputs& x, double) {
       return mean_by(
           x, [](double v, double top, std::size_t) { return std::exp2(f32_of(f32_of(v * kLog2OfE) - f32_of(top * kLog2OfE))); });
     }},
};

std::vector<Rule> rules_of_rows() {
  std::vector<Rule> list;
  for (const OfRow& rule : kOfRow)
    list.push_back({.name = rule.name,
                    .inputs = rule.terms,
                    .least = rule.least,
                    .most = rule.most,
                    .row = true,
                    .errors = Errors::coherent,
                    .numerics = rule.numerics,
                    .write = [&rule](Formula& f, const std::vector<Array>& a) { return rule.write(f, a[0], a[1]); },
                    .honest = [&rule](const Inputs& x, const Habit& h) { return rule.honest(x, h.sign); }});
  return list;
}

}  // namespace

TEST_CASE("formula rules: what one constant of a row allows is less than twice what an honest implementation errs",
          "[formula][rules]") {
  check_rules(rules_of_rows(), 0.5);
}

}  // namespace assay::formula
