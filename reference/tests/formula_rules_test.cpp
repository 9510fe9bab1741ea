// SPDX-License-Identifier: Apache-2.0
// Tests each rule of track.hpp by search: honest implementations in f32, and inputs that climb towards the largest error over
// bound.  The worst must lie in (0.3, 1]: above 1 the rule is wrong, far below it admits what no kernel computes.
#include <algorithm>
#include <cmath>

#include "catch_shim.hpp"
#include "reference/tests/rule_search.hpp"

namespace assay::formula {
namespace {

std::vector<Rule> rules() {
  std::vector<Rule> list;
  const auto add = [&](Rule rule) { list.push_back(std::move(rule)); };
  add({.name = "add",
       .inputs = 3,
       .write = [](Formula&, const std::vector<Array>& a) { return a[0] * a[1] + a[2]; },
       .honest = [](const Inputs& a, const Habit& h) { return h.rounded(product(a, h) + a[2]); }});
  add({.name = "subtract",
       .inputs = 3,
       .write = [](Formula&, const std::vector<Array>& a) { return a[2] - a[0] * a[1]; },
       .honest = [](const Inputs& a, const Habit& h) { return h.rounded(a[2] - product(a, h)); }});
  // The sum of both large terms first, which the formula adds up last.
  add({.name = "add in another order",
       .inputs = 5,
       .write = [](Formula&, const std::vector<Array>& a) { return a[0] - a[3] + a[1] - a[4] + a[2]; },
       .honest = [](const Inputs& a, const Habit&) { return f32_of(f32_of(f32_of(f32_of(a[0] + a[1]) + a[2]) - a[3]) - a[4]); }});
  add({.name = "multiply",
       .inputs = 3,
       .write = [](Formula&, const std::vector<Array>& a) { return a[0] * a[1] * a[2]; },
       .honest = [](const Inputs& a, const Habit& h) { return h.rounded(product(a, h) * a[2]); }});
  add({.name = "square",
       .write = [](Formula&, const std::vector<Array>& a) { return square(a[0] * a[1]); },
       .honest = [](const Inputs& a, const Habit& h) { return h.rounded(product(a, h) * product(a, h)); }});
  add({.name = "divide",
       .inputs = 3,
       .write = [](Formula&, const std::vector<Array>& a) { return a[2] / (a[0] * a[1]); },
       .honest =
           [](const Inputs& a, const Habit& h) {
             const double inverse = h.rounded(1 / product(a, h));
             return h.rounded(a[2] * inverse);  // as a kernel does that divides a row by one number
           }});
  add({.name = "maximum",
       .inputs = 4,
       .write = [](Formula&, const std::vector<Array>& a) { return maximum(a[0] * a[1], a[2] * a[3]); },
       .honest = [](const Inputs& a, const Habit& h) { return std::max(product(a, h), h.rounded(a[2] * a[3])); }});
  add({.name = "negate, absolute",
       .write = [](Formula&, const std::vector<Array>& a) { return absolute(-(a[0] * a[1])); },
       .honest = [](const Inputs& a, const Habit& h) { return product(a, h); }});
  add({.name = "step",
       .write = [](Formula&, const std::vector<Array>& a) { return step("p", a[0] * a[1]); },
       .honest = [](const Inputs& a, const Habit& h) { return product(a, h); }});

  add({.name = "where",
       .write = [](Formula&, const std::vector<Array>& a) { return where(a[0] < 1.5, a[0] * a[1], a[1]); },
       .honest = [](const Inputs& a, const Habit& h) { return a[0] < 1.5 ? product(a, h) : a[1]; }});
  add({.name = "take",
       .write = [](Formula& f,
                   const std::vector<Array>& a) { return take(a[0] * a[1], Axis("candidates"), f.index(Axis("candidates"))); },
       .honest = [](const Inputs& a, const Habit& h) { return product(a, h); }});
  // Products that lie so near to a number that one rounding decides.
  add({.name = "less",
       .least = 1 - 0x1p-19,
       .most = 1 + 0x1p-19,
       .write = [](Formula&, const std::vector<Array>& a) { return where(a[0] * a[1] < 1, 1, 0); },
       .honest = [](const Inputs& a, const Habit& h) { return product(a, h) < 1 ? 1.0 : 0.0; }});
  add({.name = "at_most",
       .most = 1 + 0x1p-19,
       .write = [](Formula&, const std::vector<Array>& a) { return where(a[0] * a[1] <= 1 + 0x1p-19, 1, 0); },
       .honest = [](const Inputs& a, const Habit& h) { return product(a, h) <= 1 + 0x1p-19 ? 1.0 : 0.0; }});
  // Near the middle between two numbers of f16.
  add({.name = "rounded_to",
       .least = 1 - 0x1p-19,
       .most = 1 + 0x1p-19,
       .write = [](Formula&, const std::vector<Array>& a) { return rounded_to(f16, a[0] * a[1] + 0x1p-11); },
       .honest = [](const Inputs& a, const Habit& h) { return round_to(f16, h.rounded(product(a, h) + 0x1p-11)); }});
  // The angle is half of the position, which is exact.
  add({.name = "cos_turn",
       .least = 0.25,
       .most = 1,
       .write = [](Formula&, const std::vector<Array>& a) { return cos_turn(a[0], -1, 2, 4); },
       .honest = [](const Inputs& a, const Habit& h) { return h.function(std::cos(a[0] / 2)); }});
  // What a product's rounding moves is far more than the function's own error.
  add({.name = "cos_turn of a product",
       .least = 20,
       .most = 40,
       .write = [](Formula&, const std::vector<Array>& a) { return cos_turn(a[0] * a[1], 0, 1, 4); },
       .honest = [](const Inputs& a, const Habit& h) { return h.function(std::cos(product(a, h))); }});
  add({.name = "sin_turn",
       .least = 2,
       .most = 3,
       .write = [](Formula&, const std::vector<Array>& a) { return sin_turn(a[0], -1, 2, 4); },
       .honest = [](const Inputs& a, const Habit& h) { return h.function(std::sin(a[0] / 2)); }});

  add({.name = "cos_turn by a frequency",
       .least = 0.5,
       .most = 1,
       .write = [](Formula&, const std::vector<Array>& a) { return cos_turn(a[0], a[1]); },
       .honest = [](const Inputs& a, const Habit& h) { return h.function(std::cos(a[0] * a[1])); }});

  const auto function = [&](std::string name, double least, double most, Array (*of)(const Operand&), double (*exact)(double)) {
    add({.name = std::move(name),
         .least = least,
         .most = most,
         .write = [of](Formula&, const std::vector<Array>& a) { return of(a[0] * a[1]); },
         .honest = [exact](const Inputs& a, const Habit& h) { return h.function(exact(product(a, h))); }});
  };
  function("exp", 0.5, 1.5, formula::exp, [](double x) { return std::exp(x); });
  function("log", 1.5, 3, formula::log, [](double x) { return std::log(x); });
  function("tanh", 0.25, 1, formula::tanh, [](double x) { return std::tanh(x); });
  function("erf", 0.25, 1, formula::erf, [](double x) { return std::erf(x); });

  add({.name = "sqrt",
       .write = [](Formula&, const std::vector<Array>& a) { return formula::sqrt(a[0] * a[1]); },
       .honest = [](const Inputs& a, const Habit& h) { return h.rounded(std::sqrt(product(a, h))); }});
  add({.name = "rsqrt",
       .write = [](Formula&, const std::vector<Array>& a) { return rsqrt(a[0] * a[1]); },
       .honest = [](const Inputs& a, const Habit& h) { return h.rounded(1 / h.rounded(std::sqrt(product(a, h)))); }});
  add({.name = "sigmoid",
       .least = -2,
       .most = 2,
       .write = [](Formula&, const std::vector<Array>& a) { return sigmoid(a[0] * a[1]); },
       .honest =
           [](const Inputs& a, const Habit& h) {
             const double e = h.function(std::exp(-product(a, h)));
             return h.rounded(1 / h.rounded(1 + e));
           }});
  add({.name = "silu",
       .least = -2,
       .most = 2,
       .write = [](Formula&, const std::vector<Array>& a) { return silu(a[0] * a[1]); },
       .honest =
           [](const Inputs& a, const Habit& h) {
             const double z = product(a, h), e = h.function(std::exp(-z));
             return h.rounded(z / h.rounded(1 + e));
           }});
  add({.name = "softplus",
       .least = -2,
       .most = 2,
       .write = [](Formula&, const std::vector<Array>& a) { return softplus(a[0] * a[1]); },
       .honest =
           [](const Inputs& a, const Habit& h) {
             const double z = product(a, h), e = h.function(std::exp(-std::fabs(z)));
             return h.rounded(std::max(z, 0.0) + h.function(std::log1p(e)));
           }});
  add({.name = "gelu_tanh",
       .least = -2,
       .most = 2,
       .write = [](Formula&, const std::vector<Array>& a) { return gelu_tanh(a[0] * a[1]); },
       .honest =
           [](const Inputs& a, const Habit& h) {
             const double z = product(a, h), cubic = h.rounded(0.044715 * h.rounded(z * z)), c = f32_of(-1.5957691216057308);
             const double v = h.rounded(h.rounded(c * z) * h.rounded(1 + cubic));
             return h.rounded(z / h.rounded(1 + h.function(std::exp(v))));
           }});
  add({.name = "gelu_erf",
       .least = -2,
       .most = 2,
       .write = [](Formula&, const std::vector<Array>& a) { return gelu_erf(a[0] * a[1]); },
       .honest =
           [](const Inputs& a, const Habit& h) {
             const double z = product(a, h), of = h.rounded(z * f32_of(-0.70710678118654752));
             const double erfc = f32_of(std::erfc(of) * (1 + h.sign * (2 * kFunction - kUnit)));
             return h.rounded(h.rounded(z * 0.5) * erfc);
           }});

  // Rows.  Sums are serial, as Numerics says by default; the range of exponents lets all their roundings have one sign.
  const auto row = [&](std::string name, std::size_t terms, double least, double most,
                       std::function<Array(const Array&, const Array&)> write,
                       std::function<double(const Inputs&, const Habit&)> honest) {
    add({.name = std::move(name),
         .inputs = terms,
         .least = least,
         .most = most,
         .row = true,
         .errors = Errors::coherent,
         .write = [write = std::move(write)](Formula&, const std::vector<Array>& a) { return write(a[0], a[1]); },
         .honest = std::move(honest)});
  };
  static const Axis terms("terms");
  row(
      "sum", 6, 0x1p-23, 2, [](const Array& x, const Array&) { return sum(terms)(x); },
      [](const Inputs& x, const Habit& h) {
        double total = 0;
        for (const double v : x) total = h.rounded(total + v);
        return total;
      });
  // Accumulators that start at a bias, beside which the terms are small.
  row(
      "sum that begins with a bias", 5, 0x1p-3, 1,
      [](const Array& x, const Array&) { return sum(terms)(x * 0x1p-5) + max(terms)(x); },
      [](const Inputs& x, const Habit& h) {
        double total = *std::max_element(x.begin(), x.end());
        for (const double v : x) total = h.rounded(total + v * 0x1p-5);
        return total;
      });
  row(
      "product that begins with a bias", 5, 0x1p-3, 1,
      [](const Array& x, const Array& w) { return 16 * max(terms)(x) - sum(terms)(x * w); },
      [](const Inputs& x, const Habit& h) {
        double total = 16 * *std::max_element(x.begin(), x.end());
        for (std::size_t i = 0; i < x.size(); ++i) total = h.rounded(total - h.rounded(x[i] * weight(i)));
        return total;
      });
  add({.name = "scan",
       .inputs = 6,
       .least = 0.5,
       .most = 2,
       .row = true,
       .errors = Errors::coherent,
       .write =
           [](Formula& f, const std::vector<Array>& a) {
             const Formula::Next next = [&](std::span<const Array> before) -> Stepped {
               return {.states = {before[0] * a[1] + a[0]}, .outputs = {}};
             };
             return f.scan(terms, {0.0}, next).states[0];
           },
       .honest =
           [](const Inputs& x, const Habit& h) {
             double state = 0;
             for (std::size_t i = 0; i < x.size(); ++i) state = h.rounded(h.rounded(state * weight(i)) + x[i]);
             return state;
           }});
  row(
      "dot", 6, 0x1p-23, 2, [](const Array& x, const Array& w) { return sum(terms)(x * w); },
      [](const Inputs& x, const Habit& h) {
        double total = 0;
        for (std::size_t i = 0; i < x.size(); ++i) total = h.rounded(total + h.rounded(x[i] * weight(i)));
        return total;
      });
  row(
      "max", 4, 1, 2, [](const Array& x, const Array& w) { return max(terms)(x * w); },
      [](const Inputs& x, const Habit& h) {
        double most = 0;
        for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, h.rounded(x[i] * weight(i)));
        return most;
      });
  row(
      "logsumexp", 3, -4, 4, [](const Array& x, const Array&) { return logsumexp(terms)(x); },
      [](const Inputs& x, const Habit& h) {
        const double most = *std::max_element(x.begin(), x.end());
        double total = 0;
        for (const double v : x) total = h.rounded(total + h.function(std::exp(h.rounded(v - most))));
        return h.rounded(most + h.function(std::log(total)));
      });
  // The weight of the first, and its logarithm: sums over a product with (1, 0, 0) would do, but so does the largest.
  const auto of_largest = [](const Inputs& x, const Habit& h, bool logarithm) {
    const double most = *std::max_element(x.begin(), x.end());
    double total = 0, largest = 0;
    for (const double v : x) {
      const double e = h.function(std::exp(h.rounded(v - most)));
      total = h.rounded(total + e);
      largest = std::max(largest, e);
    }
    return logarithm ? h.rounded(-h.function(std::log(total))) : h.rounded(largest * h.rounded(1 / total));
  };
  row(
      "softmax", 3, -1, 1, [](const Array& x, const Array&) { return max(terms)(softmax(terms)(x)); },
      [of_largest](const Inputs& x, const Habit& h) { return of_largest(x, h, false); });
  row(
      "softmax_or_zero", 3, -1, 1, [](const Array& x, const Array&) { return max(terms)(softmax_or_zero(terms)(x)); },
      [of_largest](const Inputs& x, const Habit& h) { return of_largest(x, h, false); });
  row(
      "mean", 3, -1, 1, [](const Array& x, const Array& w) { return sum(terms)(softmax(terms)(x) * w); },
      [](const Inputs& x, const Habit& h) {
        const double most = *std::max_element(x.begin(), x.end());
        double total = 0, mean = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double e = h.function(std::exp(h.rounded(x[i] - most)));
          total = h.rounded(total + e);
          mean = h.rounded(mean + h.rounded(e * weight(i)));
        }
        return h.rounded(mean * h.rounded(1 / total));
      });
  row(
      "log_softmax", 3, -1, 1, [](const Array& x, const Array&) { return max(terms)(log_softmax(terms)(x)); },
      [of_largest](const Inputs& x, const Habit& h) { return of_largest(x, h, true); });
  return list;
}

}  // namespace

TEST_CASE("formula rules: the worst error that a search finds is within the bound, and near it", "[formula][rules]") {
  check_rules(rules(), 0.3);
}

namespace {

// The bounds of a softmax of a row, divided by its weights.
std::vector<double> relative_bounds(std::vector<double> x, const Numerics& numerics = {}) {
  const auto count = static_cast<std::int64_t>(x.size());
  const Tensor row{.data = x.data(), .dtype = f64, .rank = 1, .shape = {count}, .stride = {1}};
  Formula f;
  f.declare_input("x", {"cols"}, row);
  f.declare_output("y", {"cols"}, row);
  f.out("y", softmax(Axis("cols"))(f.in("x")));
  const Graph graph = f.graph();
  const std::vector<Tensor> inputs{row};
  const Values values(graph, inputs);
  const Tracked tracked(values, {.numerics = numerics, .errors = Errors::coherent, .storage = f16});
  const std::vector<double> weights = values.output(0);
  std::vector<double> bounds = tracked.output(0);
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] /= weights[i];
  return bounds;
}

}  // namespace

// The exponent of an element that is far below may be off by more than 1, and it has no weight all the same.
TEST_CASE("formula rules: elements of a softmax that are far below leave the bounds of the others", "[formula][rules]") {
  const std::vector<double> without = relative_bounds({0, 0.125, -0.25});
  for (const double far : {-1.5e6, -1e9, -3e38}) {
    const std::vector<double> with = relative_bounds({0, 0.125, -0.25, far});
    for (std::size_t i = 0; i < without.size(); ++i) CHECK(with[i] < 2 * without[i]);
  }
  const std::vector<double> of_largest = relative_bounds({3e38, 3e38, 5, -3e38});
  CHECK((of_largest[0] < 1e-5 && of_largest[1] < 1e-5));
  const std::vector<double> in_bf16 = relative_bounds({0, -0.125, -0.25, -25}, {.accumulate = bf16});
  for (std::size_t i = 0; i < 3; ++i) CHECK(in_bf16[i] < 0.1);
}

namespace {

// A sum over `terms` of x [terms] with what `write` makes of it and of a number c: its value and its bound.
struct OfSum {
  OfSum(std::vector<double> x, double c, const Declared& declared,
        const std::function<Array(Formula& f, const Array& x, const Array& c)>& write) {
    const Tensor terms{.data = x.data(), .dtype = f64, .rank = 1, .shape = {std::ssize(x)}, .stride = {1}};
    double y[1];
    const Tensor one{.data = &c, .dtype = f64, .rank = 1, .shape = {1}, .stride = {1}},
        out{.data = y, .dtype = f64, .rank = 1, .shape = {1}, .stride = {1}};
    Formula f;
    f.declare_input("x", {"terms"}, terms);
    f.declare_input("c", {"rows"}, one);
    f.declare_output("y", {"rows"}, out);
    f.out("y", write(f, f.in("x"), f.in("c")));
    const Graph graph = f.graph();
    const std::vector<Tensor> inputs{terms, one};
    const Values values(graph, inputs);
    value = values.output(0)[0];
    bound = Tracked(values, declared).output(0)[0];
  }
  double value = 0, bound = 0;
};

}  // namespace

// Times 255/256 all numbers of 8 bits are rounded away from 0, by a quarter of a unit on average.
namespace {

// The bound of a mean of v by the weights of a softmax of x.
double bound_of_mean(std::vector<double> x, std::vector<double> v) {
  const auto count = static_cast<std::int64_t>(x.size());
  double y = 0;
  const Tensor row{.data = x.data(), .dtype = f64, .rank = 1, .shape = {count}, .stride = {1}};
  const Tensor values{.data = v.data(), .dtype = f64, .rank = 2, .shape = {count, 1}, .stride = {1, 1}};
  const Tensor mean{.data = &y, .dtype = f64, .rank = 1, .shape = {1}, .stride = {1}};
  Formula f;
  f.declare_input("x", {"cols"}, row);
  f.declare_input("v", {"cols", "channels"}, values);
  f.declare_output("y", {"channels"}, mean);
  f.out("y", sum(Axis("cols"))(softmax(Axis("cols"))(f.in("x") + -1e30 * (f.in("x") < -100)) * f.in("v")));
  const Graph graph = f.graph();
  const std::vector<Tensor> inputs{row, values};
  const Values evaluated(graph, inputs);
  return Tracked(evaluated, {.numerics = {}, .errors = Errors::coherent, .storage = f32}).output(0)[0];
}

}  // namespace

TEST_CASE("formula rules: a key that a mask of large numbers hides leaves a mean's bound", "[formula][rules]") {
  const double alone = bound_of_mean({0.5, 0.25}, {1, 2}), beside_hidden = bound_of_mean({0.5, 0.25, -101}, {1, 2, 3});
  CHECK(alone > 0);
  CHECK(beside_hidden < 2 * alone);
}

TEST_CASE("formula rules: an infinite value times a weight that may be lost is infinite or NaN", "[formula][rules]") {
  CHECK(bound_of_mean({0, -10}, {1, kInfinity}) == 0);
  CHECK(bound_of_mean({0, -87}, {1, kInfinity}) == 0);
  CHECK(bound_of_mean({0, -87.5}, {1, kInfinity}) == kInfinity);  // exp is below the least normal number of f32
}

namespace {

// The bound of what is written of numbers a0, a1, ...
double bound_of(std::vector<double> a, const std::function<Array(Formula&)>& write) {
  double y = 0;
  const auto scalar = [](double& v) { return Tensor{.data = &v, .dtype = f64, .rank = 1, .shape = {1}, .stride = {1}}; };
  Formula f;
  std::vector<Tensor> inputs;
  for (double& v : a) {
    f.declare_input("a" + std::to_string(inputs.size()), {"rows"}, scalar(v));
    inputs.push_back(scalar(v));
  }
  f.declare_output("y", {"rows"}, scalar(y));
  f.out("y", write(f));
  const Graph graph = f.graph();
  const Values values(graph, inputs);
  return Tracked(values, {.numerics = {}, .errors = Errors::coherent, .storage = f32}).output(0)[0];
}

}  // namespace

TEST_CASE("formula rules: sums of multiples of a power of two are exact up to what the accumulator holds", "[formula][rules]") {
  const auto sum_of = [](double a, double b, double c) {
    return bound_of({a, b, c}, [](Formula& f) { return f.in("a0") + f.in("a1") + f.in("a2"); });
  };
  CHECK(sum_of(3, 0x1p20, -5) == 0);
  CHECK(sum_of(0x1p23, 0x1p22, 0x1p22) == 0);
  CHECK(sum_of(0x1p23, 0x1p22, 0x1p22 + 1) > 0);
  CHECK(sum_of(0x1p-23, 0x1p-24, 1) >= 0x1p-24);
  CHECK(sum_of(1 - 0x1p-24, 0x1p-30, 0x1p-30) > 0);     // of few units, and far apart
  CHECK(sum_of(0x1p-100, 0x1p-76 - 0x1p-100, 0) == 0);  // far from 1
  CHECK(sum_of(0x1p100, 0x1p101, 0x1p102) == 0);
}

TEST_CASE("formula rules: a sigmoid is 0 where the error of its exponential lets it overflow", "[formula][rules]") {
  const double most = std::log(overflow_threshold(f32));
  const auto bound_at = [](double x) { return bound_of({x}, [](Formula& f) { return sigmoid(f.in("a0")); }); };
  const auto value_at = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(bound_at(-most + 3 * kUnit) >= value_at(-most));
  CHECK(bound_at(-most + 64 * kUnit) < 0.5 * value_at(-most));
}

TEST_CASE("formula rules: roundings of products that repeat a factor are no draws", "[formula][rules]") {
  std::vector<double> x;
  double honest = 0;
  const double c = 255.0 / 256;
  for (int i = 0; i < 1024; ++i) {
    x.push_back(1 + i % 128 / 128.0);
    honest += round_to(bf16, x.back() * c);
  }
  const Declared stores{{.stores = "product"}, Errors::independent, bf16};
  const Axis terms("terms");
  const OfSum one(x, c, stores, [&](Formula&, const Array& a, const Array& b) { return sum(terms)(step("product", a * b)); });
  CHECK(std::fabs(honest - one.value) < one.bound);
  CHECK(std::fabs(honest - one.value) > 0.3 * one.bound);
  // Behind another operation too.  Where no factor repeats, errors are draws.
  const OfSum negated(x, c, stores,
                      [&](Formula&, const Array& a, const Array& b) { return sum(terms)(step("product", -(a * b) * 0.5)); });
  CHECK(negated.bound > 0.4 * one.bound);
  const OfSum squares(x, c, stores,
                      [&](Formula&, const Array& a, const Array& b) { return sum(terms)(step("product", a * a)) * b; });
  CHECK(squares.bound < 0.5 * one.bound);
}

TEST_CASE("formula rules: within a scan only a sum of both signs may overflow on its way to a finite result",
          "[formula][rules]") {
  const auto bound = [](const std::vector<double>& x) {
    const auto write = [](Formula& f, const Array& a, const Array& b) {
      const Formula::Next next = [&](std::span<const Array> before) -> Stepped {
        return {.states = {b * before[0]}, .outputs = {sum(Axis("terms"))(a * before[0])}};
      };
      return f.scan(Axis("rows"), {1.0}, next).outputs[0];
    };
    return OfSum(x, 1, {{}, Errors::independent, f32}, write).bound;
  };
  const double half = 0x1p127, below = 0x1p127 - 0x1p104;  // together the largest f32
  CHECK(bound({half, below}) < 0x1p106);
  CHECK(bound({half, half, -half}) == kInfinity);
}

TEST_CASE("formula rules: where no word says which way a kernel computes, the larger error counts", "[formula][rules]") {
  const std::vector<double> x{3 * 0x1p-149, -0x1p-149};
  const double c = 0x1p20, w = 0.75;
  const auto bound = [&](std::string_view second, const Numerics& numerics) {
    const Axis terms("terms");
    return OfSum(x, c, {numerics, Errors::independent, f32},
                 [&](Formula&, const Array& a, const Array& b) {
                   return either(sum(terms)(a * b * w), sum(terms)(a * w) * b, second);
                 })
        .bound;
  };
  const double honest = (f32_of(x[0] * w) + f32_of(x[1] * w)) * c, exact = (x[0] + x[1]) * w * c;
  const double off = std::fabs(honest - exact);
  CHECK(off > bound("second", {}));
  CHECK(off <= bound("second", {.ways = "second"}));
  CHECK(off <= bound("", {}));
  // In either order.
  const double swapped = OfSum(x, c, {{}, Errors::independent, f32}, [&](Formula&, const Array& a, const Array& b) {
                           const Axis terms("terms");
                           return either(sum(terms)(a * w) * b, sum(terms)(a * b * w));
                         }).bound;
  CHECK(off <= swapped);
}

}  // namespace assay::formula
