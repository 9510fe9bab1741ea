// SPDX-License-Identifier: Apache-2.0
// Tests each constant of the rules of track.hpp by the search of rule_search.hpp: numerics and ranges in which nearly all of the
// bound is what this constant allows, and an honest implementation that makes the error.  reference/tests/halve.py halves the
// constants one by one and says which of them no test notices.
#include <algorithm>
#include <cmath>

#include "catch_shim.hpp"
#include "reference/tests/rule_search.hpp"

namespace assay::formula {
namespace {

constexpr double kLow = 0x1p-150;                // half the least subnormal of f32
constexpr double kLarge = 64;                    // of a word of Numerics, so that all else is small beside it
constexpr double kOff = 0.999 * kLarge * kUnit;  // just within
constexpr double kOneApart = 3 * 0x1p22;         // numbers of f32 around it are 1 apart
const double kLog2OfE = f32_of(1.4426950408889634), kLogOf2 = f32_of(0.6931471805599453);

// An argument that is off by up to 1/2: what is left of a number after a large one is added and subtracted.
Array coarse(const Array& x) { return (x + kOneApart) - kOneApart; }
double coarse(double x) { return f32_of(x + kOneApart) - kOneApart; }

// exp by exp2, whose argument is rounded.
double exp_by_exp2(double x) { return std::exp2(f32_of(x * kLog2OfE)); }
// log by log2, and their change of base rounded.
double log_by_log2(double x) { return f32_of(std::log2(x) * kLogOf2); }

// A rule of one number: `honest` gets it and a sign, by which what may err either way does.
struct OfOne {
  const char* name;
  double least, most;
  Numerics numerics;
  Array (*write)(Formula&, const Array&);
  double (*honest)(double x, double sign);
};

const OfOne kOfOne[] = {
    {"a stored step",
     1,
     2,
     {.stores = "s"},
     [](Formula&, const Array& x) { return step("s", x * x); },
     [](double x, double) { return round_to(f16, f32_of(x * x)); }},
    {"a stored step that is subnormal",
     0x1p-13,
     0x1p-12,
     {.stores = "s"},
     [](Formula&, const Array& x) { return step("s", x * x); },
     [](double x, double) { return round_to(f16, f32_of(x * x)); }},
    {"half of a number, which is subnormal",
     0x1p-140,
     0x1p-138,
     {},
     [](Formula&, const Array& x) { return (x * 0.25) * 0x1p20; },
     [](double x, double) { return f32_of(x * 0.25) * 0x1p20; }},
    {"half of a product, which is subnormal",
     0x1p-140,
     0x1p-138,
     {},
     [](Formula&, const Array& x) { return (x * 0.75) / 8; },
     [](double x, double) { return f32_of(f32_of(x * 0.75) / 8); }},
    {"a quotient of a coarse dividend",
     2,
     8,
     {},
     [](Formula&, const Array& x) { return coarse(x) / 3; },
     [](double x, double) { return f32_of(coarse(x) / 3); }},
    {"a quotient's own error",
     1,
     2,
     {.quotient_error = kLarge},
     [](Formula&, const Array& x) { return 1 / (x * x); },
     [](double x, double sign) { return f32_of(1 / f32_of(x * x) * (1 + sign * kOff)); }},

    {"exp by exp2",
     -80,
     80,
     {.function_error = 0},
     [](Formula&, const Array& x) { return exp(x); },
     [](double x, double) { return exp_by_exp2(x); }},
    {"exp, subnormal",
     -103,
     -88,
     {.function_error = 0},
     [](Formula&, const Array& x) { return exp(x); },
     [](double x, double) { return f32_of(std::exp(x)); }},
    {"exp's own error where it is subnormal",
     -103,
     -88,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return exp(x); },
     [](double x, double sign) { return f32_of(std::exp(x) + sign * kLarge * kLow); }},
    {"exp, flushed",
     -88,
     -87,
     {.flushes_subnormals = true},
     [](Formula&, const Array& x) { return exp(x); },
     [](double x, double) { return std::exp(x) < 0x1p-126 ? 0.0 : std::exp(x); }},
    {"log by log2",
     0x1p10,
     0x1p40,
     {.function_error = 0},
     [](Formula&, const Array& x) { return log(x); },
     [](double x, double) { return log_by_log2(x); }},
    {"log's own error",
     0x1p10,
     0x1p40,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return log(x); },
     [](double x, double sign) { return std::log(x) * (1 + sign * kOff); }},
    {"log, bent",
     1.5,
     4,
     {},
     [](Formula&, const Array& x) { return log(coarse(x)); },
     [](double x, double) { return std::log(coarse(x)); }},

    {"an angle that is off",
     20,
     40,
     {.angle_error = kLarge},
     [](Formula&, const Array& x) { return cos_turn(x, -1, 2, 4); },
     [](double x, double sign) { return std::cos(x / 2 * (1 + sign * kOff)); }},
    {"a reduced angle that is off",
     0.5,
     3,
     {.reduced_angle_error = kLarge},
     [](Formula&, const Array& x) { return cos_turn(x, -1, 2, 4); },
     [](double x, double sign) { return std::cos(x / 2 + sign * kOff); }},
    {"a sine that is subnormal",
     0x1p-148,
     0x1p-140,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return sin_turn(x, -1, 2, 4); },
     [](double x, double sign) { return std::sin(x / 2) + sign * kLarge * kLow; }},
    {"cos, bent",
     12.4,
     12.7,
     {},
     [](Formula&, const Array& x) { return cos_turn(coarse(x), 0, 1, 4); },
     [](double x, double) { return std::cos(coarse(x)); }},
    {"cos, steepest",
     1.5,
     1.64,
     {},
     [](Formula&, const Array& x) { return cos_turn(coarse(x), 0, 1, 4); },
     [](double x, double) { return std::cos(coarse(x)); }},
    {"cos of any angle",
     0,
     1000,
     {},
     [](Formula&, const Array& x) { return cos_turn((x + 128 * kOneApart) - 128 * kOneApart, 0, 1, 4); },
     [](double x, double) { return std::cos(f32_of(x + 128 * kOneApart) - 128 * kOneApart); }},

    {"tanh, bent",
     0.4,
     0.5,
     {},
     [](Formula&, const Array& x) { return tanh(coarse(x)); },
     [](double x, double) { return std::tanh(coarse(x)); }},
    {"tanh, steepest",
     0.1,
     0.4,
     {},
     [](Formula&, const Array& x) { return tanh(coarse(x)); },
     [](double x, double) { return std::tanh(coarse(x)); }},
    {"tanh's own error where it is subnormal",
     0x1p-148,
     0x1p-140,
     {.function_error = kLarge - 1},
     [](Formula&, const Array& x) { return tanh(x); },
     [](double x, double sign) { return f32_of(std::tanh(x) + sign * (kLarge - 1) * kLow); }},
    {"erf, bent",
     0.4,
     0.5,
     {},
     [](Formula&, const Array& x) { return erf(coarse(x) + 0.25); },
     [](double x, double) { return std::erf(coarse(x) + 0.25); }},
    {"erf, steepest",
     0.1,
     0.4,
     {},
     [](Formula&, const Array& x) { return erf(coarse(x)); },
     [](double x, double) { return std::erf(coarse(x)); }},
    {"erf, subnormal",
     0x1p-148,
     0x1p-140,
     {.function_error = 0},
     [](Formula&, const Array& x) { return erf(x); },
     [](double x, double) { return f32_of(std::erf(x)); }},
    {"erf's own error where it is subnormal",
     0x1p-148,
     0x1p-140,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return erf(x); },
     [](double x, double sign) { return f32_of(std::erf(x) + sign * kLarge * kLow); }},

    {"sigmoid, bent",
     1.4,
     1.5,
     {},
     [](Formula&, const Array& x) { return sigmoid(coarse(x)); },
     [](double x, double) { return 1 / (1 + std::exp(-coarse(x))); }},
    {"sigmoid, steepest",
     0.1,
     0.4,
     {},
     [](Formula&, const Array& x) { return sigmoid(coarse(x)); },
     [](double x, double) { return 1 / (1 + std::exp(-coarse(x))); }},
    {"sigmoid's sum",
     -2,
     2,
     {.function_error = 0, .quotient_error = 0},
     [](Formula&, const Array& x) { return sigmoid(x); },
     [](double x, double) { return 1 / f32_of(1 + std::exp(-x)); }},
    {"sigmoid's quotient",
     -2,
     2,
     {.function_error = 0, .quotient_error = kLarge},
     [](Formula&, const Array& x) { return sigmoid(x); },
     [](double x, double sign) { return 1 / (1 + std::exp(-x)) * (1 + sign * kOff); }},
    {"sigmoid's exponent",
     -80,
     -60,
     {.function_error = 0, .exponent_error = kLarge},
     [](Formula&, const Array& x) { return sigmoid(x); },
     [](double x, double sign) { return 1 / (1 + std::exp(-x * (1 + sign * kOff))); }},
    {"sigmoid, subnormal",
     -103,
     -88,
     {.function_error = 0},
     [](Formula&, const Array& x) { return sigmoid(x); },
     [](double x, double) { return f32_of(std::exp(x)); }},
    {"sigmoid's own error where it is subnormal",
     -103,
     -88,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return sigmoid(x); },
     [](double x, double sign) { return f32_of(std::exp(x) + sign * kLarge * kLow); }},

    {"softplus, bent",
     -0.5,
     -0.4,
     {},
     [](Formula&, const Array& x) { return softplus(coarse(x)); },
     [](double x, double) { return std::log1p(std::exp(coarse(x))); }},
    {"softplus, steepest",
     4.4,
     4.5,
     {},
     [](Formula&, const Array& x) { return softplus(coarse(x)); },
     [](double x, double) { return std::log1p(std::exp(coarse(x))); }},
    {"softplus: both functions' own errors",
     -12,
     -8,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return softplus(x); },
     [](double x, double sign) {
       const double off = 1 + sign * kOff;
       return std::log1p(std::exp(x) * off) * off;
     }},
    {"softplus: change of base, and sum",
     0x1p-10,
     0x1p-6,
     {.function_error = 0},
     [](Formula&, const Array& x) { return softplus(x); },
     [](double x, double) { return f32_of(x + log_by_log2(1 + std::exp(-x))); }},
    {"softplus by exp2",
     -80,
     -60,
     {.function_error = 0},
     [](Formula&, const Array& x) { return softplus(x); },
     [](double x, double) { return std::log1p(exp_by_exp2(x)); }},
    {"softplus, subnormal",
     -103,
     -88,
     {.function_error = 0},
     [](Formula&, const Array& x) { return softplus(x); },
     [](double x, double) { return f32_of(std::exp(x)); }},
    {"softplus: exp's own error where it is subnormal",
     -103,
     -88,
     {.function_error = kLarge},
     [](Formula&, const Array& x) { return softplus(x); },
     [](double x, double sign) { return f32_of(std::exp(x) + sign * kLarge * kLow); }},

    {"sqrt's own error",
     1,
     2,
     {.root_error = kLarge},
     [](Formula&, const Array& x) { return formula::sqrt(x); },
     [](double x, double sign) { return std::sqrt(x) * (1 + sign * kOff); }},
    {"the root of rsqrt",
     1,
     2,
     {.root_error = kLarge},
     [](Formula&, const Array& x) { return rsqrt(x); },
     [](double x, double sign) { return 1 / (std::sqrt(x) * (1 + sign * kOff)); }},
    {"the quotient of rsqrt",
     1,
     2,
     {.quotient_error = kLarge},
     [](Formula&, const Array& x) { return rsqrt(x); },
     [](double x, double sign) { return 1 / std::sqrt(x) * (1 + sign * kOff); }},
};

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

std::vector<Rule> rules() {
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
  for (const OfOne& rule : kOfOne)
    list.push_back({.name = rule.name,
                    .inputs = 1,
                    .least = rule.least,
                    .most = rule.most,
                    .numerics = rule.numerics,
                    .write = [&rule](Formula& f, const std::vector<Array>& a) { return rule.write(f, a[0]); },
                    .honest = [&rule](const Inputs& a, const Habit& h) { return rule.honest(a[0], h.sign); }});
  list.push_back({.name = "a condition that may turn out otherwise",
                  .least = 1 - 0x1p-19,
                  .most = 1 + 0x1p-19,
                  .write = [](Formula&, const std::vector<Array>& a) { return a[0] * a[1] < 1; },
                  .honest = [](const Inputs& a, const Habit& h) { return product(a, h) < 1 ? 1.0 : 0.0; }});
  list.push_back({.name = "a product that is subnormal",
                  .inputs = 3,
                  .least = 0x1p-50,
                  .most = 0x1p-49,
                  .write = [](Formula&, const std::vector<Array>& a) { return a[0] * a[1] * a[2]; },
                  .honest = [](const Inputs& a, const Habit& h) { return h.rounded(product(a, h) * a[2]); }});
  return list;
}

}  // namespace

TEST_CASE("formula rules: what one constant allows is less than twice what an honest implementation errs", "[formula][rules]") {
  check_rules(rules(), 0.5);
}

}  // namespace assay::formula
