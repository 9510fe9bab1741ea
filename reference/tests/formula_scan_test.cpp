// SPDX-License-Identifier: Apache-2.0
// Tests recurrences in formulas: how they are recorded, and that every evaluator goes through their steps.
#include <cmath>
#include <functional>
#include <random>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/formula/rounded.hpp"
#include "reference/formula/shapes.hpp"
#include "reference/tests/formula_testing.hpp"

namespace assay::formula {
namespace {

const Axis batch("batch"), seq("seq"), keys("keys"), values("values");
constexpr std::int64_t kBatch = 3, kSteps = 7, kKeys = 4, kValues = 5;

Tensor tensor_of(std::vector<double>& data, std::initializer_list<std::int64_t> shape) { return dense(data.data(), f64, shape); }

// Attention with a state that decays: S(t) = a(t) S(t-1) + k(t) v(t), o(t) = sum over keys of q(t) S(t).
struct Decaying {
  std::vector<double> a, q, k, v, first, o, last;
  Graph graph;
  std::vector<Tensor> inputs;

  explicit Decaying(std::int64_t steps = kSteps)
      : a(sized(kBatch * steps)),
        q(sized(kBatch * steps * kKeys)),
        k(q.size()),
        v(sized(kBatch * steps * kValues)),
        first(sized(kBatch * kKeys * kValues)),
        o(v.size()),
        last(first.size()) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::vector<double>* const all : {&q, &k, &v, &first})
      for (double& x : *all) x = static_cast<double>(static_cast<float>(uniform(random)));
    for (double& x : a) x = static_cast<double>(static_cast<float>(0.75 + uniform(random) / 4));
    inputs = {tensor_of(a, {kBatch, steps}), tensor_of(q, {kBatch, steps, kKeys}), tensor_of(k, {kBatch, steps, kKeys}),
              tensor_of(v, {kBatch, steps, kValues}), tensor_of(first, {kBatch, kKeys, kValues})};
    Formula f;
    f.declare_input("a", {"batch", "seq"}, inputs[0]);
    f.declare_input("q", {"batch", "seq", "keys"}, inputs[1]);
    f.declare_input("k", {"batch", "seq", "keys"}, inputs[2]);
    f.declare_input("v", {"batch", "seq", "values"}, inputs[3]);
    f.declare_input("first", {"batch", "keys", "values"}, inputs[4]);
    f.declare_output("o", {"batch", "seq", "values"}, tensor_of(o, {kBatch, steps, kValues}));
    f.declare_output("last", {"batch", "keys", "values"}, tensor_of(last, {kBatch, kKeys, kValues}));
    const Stepped all = f.scan(seq, {f.in("first")}, [&](std::span<const Array> before) -> Stepped {
      const Array state = f.in("a") * before[0] + f.in("k") * f.in("v");
      return {.states = {state}, .outputs = {sum(keys)(f.in("q") * state)}};
    });
    f.out("o", all.outputs[0]);
    f.out("last", all.states[0]);
    graph = f.graph();
  }

  // By loops, with each result rounded.
  void compute(const std::function<double(double)>& round) {
    last = first;
    const auto steps = static_cast<std::int64_t>(a.size()) / kBatch;
    for (std::int64_t b = 0; b < kBatch; ++b)
      for (std::int64_t t = 0; t < steps; ++t)
        for (std::int64_t j = 0; j < kValues; ++j) {
          double total = 0;
          for (std::int64_t i = 0; i < kKeys; ++i) {
            double& state = last[at((b * kKeys + i) * kValues + j)];
            const std::int64_t step = b * steps + t;
            state = round(round(a[at(step)] * state) + round(k[at(step * kKeys + i)] * v[at(step * kValues + j)]));
            total = round(total + q[at(step * kKeys + i)] * state);
          }
          o[at((b * steps + t) * kValues + j)] = total;
        }
  }

  static std::size_t sized(std::int64_t n) { return static_cast<std::size_t>(n); }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

double exact(double v) { return v; }
double in_f32(double v) { return static_cast<double>(static_cast<float>(v)); }

std::string refused(const std::function<void(Formula&)>& write) {
  std::vector<double> x(12), y(12);
  Formula f;
  f.declare_input("x", {"seq", "keys"}, tensor_of(x, {3, 4}));
  f.declare_output("y", {"seq", "keys"}, tensor_of(y, {3, 4}));
  try {
    write(f);
    f.graph();
  } catch (const FormulaError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("scan: a recurrence has the values of its loop, and a kernel in f32 is within its bound", "[formula]") {
  for (const std::int64_t steps : {0, 1, 7, 200}) {
    CAPTURE(steps);
    Decaying made(steps);
    const Declared declared[] = {{.numerics = {}}, {.numerics = {}, .errors = Errors::coherent}};
    const std::vector<Answer> answers = evaluate(made.graph, made.inputs, {.total = kBatch * steps}, declared);
    made.compute(exact);
    const std::vector<double> o = made.o, last = made.last;
    made.compute(in_f32);
    const auto compare = [](const Answer& answer, const std::vector<double>& exactly, const std::vector<double>& by_kernel) {
      REQUIRE(answer.values.size() == exactly.size());
      double worst = 0;
      for (std::size_t i = 0; i < exactly.size(); ++i) {
        CHECK(std::fabs(answer.values[i] - exactly[i]) <= 1e-14 * std::max(1.0, std::fabs(exactly[i])));
        for (const auto& errors : answer.errors) CHECK(std::fabs(by_kernel[i] - exactly[i]) <= errors[i]);
        worst = std::max(worst, std::fabs(by_kernel[i] - exactly[i]) / std::max(answer.errors[0][i], 1e-300));
      }
      return worst;
    };
    const double worst = compare(answers[0], o, made.o), worst_of_last = compare(answers[1], last, made.last);
    // Decays of a quarter on average forget old errors, so that the bound does not grow with the number of steps.
    if (steps > 0) CHECK((worst > 0.05 && worst_of_last > 0.05));
    if (steps == 0)
      for (const double e : answers[1].errors[0]) CHECK(e == 0);
  }
}

TEST_CASE("scan: rows alone have the values and bounds that they have in the whole", "[formula]") {
  const Decaying made;
  CHECK(cut_axes(made.graph) == std::vector<int>{0});  // batch; never the axis of the steps
  const Declared declared[] = {{.numerics = {}}};
  const Rows some{.total = kBatch * kSteps, .sample = {kSteps + 2}};  // of the second sequence
  const std::vector<Answer> whole = evaluate(made.graph, made.inputs, {.total = kBatch * kSteps}, declared),
                            part = evaluate(made.graph, made.inputs, some, declared);
  const std::size_t row = (kSteps + 2) * kValues, state = 1 * kKeys * kValues;
  for (std::size_t i = 0; i < kValues; ++i) {
    // Note: a product of few rows adds in another order than one of many.
    const auto alike = [](double a, double b) { return std::fabs(a - b) <= 1e-14 * std::fabs(b); };
    CHECK(alike(part[0].values[row + i], whole[0].values[row + i]));
    CHECK(alike(part[0].errors[0][row + i], whole[0].errors[0][row + i]));
    CHECK(part[1].values[state + i] == whole[1].values[state + i]);
    CHECK(part[1].errors[0][state + i] == whole[1].errors[0][state + i]);
  }
}

TEST_CASE("scan: computed as a kernel would, each step rounds", "[formula]") {
  Decaying made;
  made.compute(in_f32);
  std::vector<double> o(made.o.size());
  const std::span<double> written[] = {o};
  CHECK_FALSE(evaluate_rounded(made.graph, made.inputs, f32, {}, Roundings::declared, written));
  CHECK(o == made.o);
  made.compute(exact);
  evaluate_rounded(made.graph, made.inputs, f32, {}, Roundings::exact, written);
  for (std::size_t i = 0; i < o.size(); ++i) CHECK(std::fabs(o[i] - made.o[i]) < 1e-14);
  evaluate_rounded(made.graph, made.inputs, f16, {}, Roundings::one_lower, written);
  const Declared declared[] = {{.numerics = {}}};
  const Answer answer = evaluate(made.graph, made.inputs, {.total = kBatch * kSteps}, declared)[0];
  int outside = 0;
  for (std::size_t i = 0; i < o.size(); ++i) outside += std::fabs(o[i] - answer.values[i]) > answer.errors[0][i];
  CHECK(outside > static_cast<int>(o.size()) / 2);
}

// What both factors of a product have of one array errs in both alike.
TEST_CASE("scan: factors that share an error are not independent", "[formula]") {
  constexpr std::int64_t kTerms = 64;
  std::vector<double> x(kTerms), g(kTerms), b(kTerms), a = {1}, y(1), square_of(1);
  for (std::int64_t i = 0; i < kTerms; ++i) {
    const auto at = static_cast<std::size_t>(i);
    x[at] = in_f32(1 + static_cast<double>(i) / 300);
    g[at] = in_f32(1000 + static_cast<double>(i) / 7);
    b[at] = in_f32(1 - x[at] * x[at] * g[at]);  // what cancels leaves an error that is large beside all others
  }
  Formula f;
  for (const auto& [name, data] : {std::pair{"x", &x}, std::pair{"g", &g}, std::pair{"b", &b}})
    f.declare_input(name, {"keys"}, tensor_of(*data, {kTerms}));
  f.declare_input("a", {"seq"}, tensor_of(a, {1}));
  f.declare_output("y", {"seq"}, tensor_of(y, {1}));
  f.declare_output("square", {}, Tensor{.dtype = f64});
  const Array w = f.in("x") * f.in("x") * f.in("g") + f.in("b");
  const Stepped all = f.scan(seq, {0.0}, [&](std::span<const Array> before) -> Stepped {
    const Array s = f.in("a") * before[0] + w;  // w, at the first step
    return {.states = {s}, .outputs = {sum(keys)(w * s)}};
  });
  f.out("y", all.outputs[0]);
  f.out("square", sum(keys)(square(w)));
  const Tensor inputs[] = {tensor_of(x, {kTerms}), tensor_of(g, {kTerms}), tensor_of(b, {kTerms}), tensor_of(a, {1})};
  const Declared declared[] = {{.numerics = {}}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 1}, declared);
  CHECK(answers[0].values[0] == answers[1].values[0]);
  CAPTURE(answers[0].errors[0][0], answers[1].errors[0][0]);
  CHECK(answers[0].errors[0][0] >= 0.95 * answers[1].errors[0][0]);
}

namespace {

// h = 1e30, 1e40, 1e10: in a kernel 1e30, inf, inf.  Bounds of what `follows` from all h, an array without axis seq.
Answer after_overflow(const std::function<Array(Formula&, const Array& h)>& follows, const Numerics& numerics = {}) {
  std::vector<double> gate = {1, in_f32(1e10), in_f32(1e-30)}, x = {in_f32(1e30), 0, 0}, y(1);
  Formula f;
  f.declare_input("gate", {"seq"}, tensor_of(gate, {3}));
  f.declare_input("x", {"seq"}, tensor_of(x, {3}));
  f.declare_output("y", {}, Tensor{.dtype = f64});
  const Formula::Next next = [&](std::span<const Array> before) -> Stepped {
    const Array h = f.in("gate") * before[0] + f.in("x");
    return {.states = {h}, .outputs = {h}};
  };
  f.out("y", follows(f, f.scan(seq, {0.0}, next).outputs[0]));
  const Tensor inputs[] = {tensor_of(gate, {3}), tensor_of(x, {3})};
  const Declared declared[] = {{.numerics = numerics}};
  return evaluate(f.graph(), inputs, {.total = 1}, declared)[0];
}

}  // namespace

TEST_CASE("scan: what follows from a state that overflowed has no bound", "[formula]") {
  const auto last = [](Formula& f, const Array& all) { return sum(seq)(where(f.index(seq) < 2, 0, all)); };
  using Follows = std::function<Array(Formula&, const Array&)>;
  const std::pair<const char*, Follows> cases[] = {
      {"itself", last},
      {"times 0", [&](Formula& f, const Array& h) { return last(f, h * (f.index(seq) - 2)); }},
      {"repeated, times 0", [&](Formula& f, const Array& h) { return sum(keys)(last(f, h * f.index(keys, 1))); }},
      {"a product with 0",
       [&](Formula& f, const Array& h) { return sum(keys)(sum(seq)(h * (f.index(keys, 1) * f.index(seq)))); }},
      {"sigmoid", [&](Formula& f, const Array& h) { return last(f, sigmoid(h)); }},
      {"cos", [&](Formula& f, const Array& h) { return last(f, cos_turn(h, 0, 1, 4)); }},
      {"a divisor of 0", [&](Formula& f, const Array& h) { return last(f, (f.index(seq) - 2) / (h + 1)); }},
      {"softmax", [&](Formula& f, const Array& h) { return last(f, softmax(seq)(h / 1e30)); }},
      {"a mean", [&](Formula& f, const Array& h) { return sum(seq)(softmax(seq)(h / 1e30) * f.index(seq)); }},
      {"a norm", [&](Formula&, const Array& h) { return rsqrt(mean(seq)(square(h / 1e30)) + 1); }},
      {"the largest", [&](Formula&, const Array& h) { return max(seq)(h); }}};
  for (const auto& [name, follows] : cases) {
    INFO(name);
    CHECK(after_overflow(follows).errors[0][0] == kInfinity);
  }
  // What is computed from the very element that overflows.
  const auto second = [](Formula& f, const Array& all) {
    return sum(seq)(where(f.index(seq) <= 1, where(1 <= f.index(seq), all / 1e30, 0), 0));
  };
  CHECK(after_overflow(second).errors[0][0] == kInfinity);
  // A mean of a row with an infinite element, subtracted from an element that is far below it.
  const auto centred = [](Formula& f, const Array& h) {
    const Array x = h / 1e30, d = x - mean(seq)(x);
    return sum(seq)(where(f.index(seq) < 1, d * rsqrt(mean(seq)(square(d)) + 1), 0));
  };
  CHECK(after_overflow(centred, {.running_moments = true}).errors[0][0] == kInfinity);
  // Values that are hidden do not count.
  const auto mean_of_first = [](Formula& f, const Array& h) {
    return sum(seq)(softmax(seq)(where(f.index(seq) < 1, f.in("x") / 1e30, -INFINITY)) * (h * f.index(keys, 1) + h));
  };
  CHECK(after_overflow([&](Formula& f, const Array& h) { return sum(keys)(mean_of_first(f, h)); }).errors[0][0] < 1e25);
  const auto first = [](Formula& f, const Array& all) { return sum(seq)(where(f.index(seq) < 1, all, 0)); };
  CHECK(after_overflow(first).errors[0][0] < 1e24);  // what was put out before
}

TEST_CASE("scan: what is put out where it overflows is infinite in every kernel, and keeps its bound", "[formula]") {
  for (const std::int64_t steps : {2, 3}) {
    std::vector<double> x = {in_f32(3e38), in_f32(3e38), in_f32(-3e38)}, y(3);
    Formula f;
    f.declare_input("x", {"seq"}, tensor_of(x, {steps}));
    f.declare_output("y", {"seq"}, tensor_of(y, {steps}));
    f.declare_output("last", {}, Tensor{.dtype = f64});
    const Formula::Next next = [&](std::span<const Array> before) -> Stepped {
      const Array total = before[0] + f.in("x");
      return {.states = {total}, .outputs = {step("total", total)}};
    };
    const Stepped all = f.scan(seq, {0.0}, next);
    f.out("y", all.outputs[0]);
    f.out("last", all.states[0]);
    const Tensor inputs[] = {tensor_of(x, {steps})};
    const Declared declared[] = {{.numerics = {}}};
    const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = steps}, declared);
    const std::vector<double>& errors = answers[0].errors[0];
    CHECK((errors[0] < 1e32 && errors[1] < 1e32));
    if (steps == 3) CHECK(errors[2] == kInfinity);
    CHECK((answers[1].errors[0][0] < kInfinity) == (steps == 2));
  }
}

TEST_CASE("scan: a result within a step may overflow though the state does not", "[formula]") {
  std::vector<double> gate = {1, 2}, x = {in_f32(2e38), in_f32(-2e38)}, y(2);  // 4e38 - 2e38, or inf - 2e38
  Formula f;
  f.declare_input("gate", {"seq"}, tensor_of(gate, {2}));
  f.declare_input("x", {"seq"}, tensor_of(x, {2}));
  f.declare_output("y", {"seq"}, tensor_of(y, {2}));
  const Formula::Next next = [&](std::span<const Array> before) -> Stepped {
    const Array h = f.in("gate") * before[0] + f.in("x");
    return {.states = {h}, .outputs = {h}};
  };
  f.out("y", f.scan(seq, {0.0}, next).outputs[0]);
  const Tensor inputs[] = {tensor_of(gate, {2}), tensor_of(x, {2})};
  const Declared declared[] = {{.numerics = {}}};
  const Answer answer = evaluate(f.graph(), inputs, {.total = 2}, declared)[0];
  CHECK(std::isfinite(answer.errors[0][0]));
  CHECK(answer.errors[0][1] == kInfinity);
}

TEST_CASE("scan: a sum within a step may overflow on its way though it does not", "[formula]") {
  const auto bound = [](std::vector<double> x) {
    for (double& v : x) v = in_f32(v);
    std::vector<double> y(1);
    const auto count = static_cast<std::int64_t>(x.size());
    Formula f;
    f.declare_input("x", {"seq", "keys"}, tensor_of(x, {1, count}));
    f.declare_output("y", {"seq"}, tensor_of(y, {1}));
    f.out("y", f.scan(seq, {0.0}, [&](std::span<const Array> before) -> Stepped {
                  const Array h = before[0] + f.in("x") * 0.7;
                  return {.states = {h}, .outputs = {sum(keys)(h)}};
                }).outputs[0]);
    const Tensor inputs[] = {tensor_of(x, {1, count})};
    const Declared declared[] = {{.numerics = {}}};
    return evaluate(f.graph(), inputs, {.total = 1}, declared)[0].errors[0][0];
  };
  CHECK(bound({3e38, 3e38, -3e38}) == kInfinity);
  CHECK(bound({1e38, 1e38, -1e38}) < 1e32);
  CHECK(bound({3e38, 3e38, 3e38}) < 1e33);  // infinite in every order
}

TEST_CASE("scan: several states, of which some are exact", "[formula]") {
  // A running maximum m and the sum s of exp(x - m), which is rescaled when m grows.
  std::vector<double> x = {0.5, -1, 3, 2, 2.5, 4}, lse(2), top(6);
  Formula f;
  f.declare_input("x", {"batch", "seq"}, tensor_of(x, {2, 3}));
  f.declare_output("lse", {"batch"}, tensor_of(lse, {2}));
  f.declare_output("top", {"batch", "seq"}, tensor_of(top, {2, 3}));
  const Stepped all = f.scan(seq, {-kInfinity, 0.0}, [&](std::span<const Array> before) -> Stepped {
    const Array most = maximum(before[0], f.in("x"));
    return {.states = {most, before[1] * exp(before[0] - most) + exp(f.in("x") - most)}, .outputs = {most}};
  });
  f.out("lse", log(all.states[1]) + all.states[0]);
  f.out("top", all.outputs[0]);
  const Tensor inputs[] = {tensor_of(x, {2, 3})};
  const Declared declared[] = {{.numerics = {}}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 2}, declared);
  for (std::size_t row = 0; row < 2; ++row) {
    const double expected = std::log(std::exp(x[3 * row]) + std::exp(x[3 * row + 1]) + std::exp(x[3 * row + 2]));
    CHECK(std::fabs(answers[0].values[row] - expected) < 1e-14);
    CHECK((answers[0].errors[0][row] > 0 && answers[0].errors[0][row] < 1e-5));
  }
  CHECK(answers[1].values == std::vector<double>{0.5, 0.5, 3, 2, 2.5, 4});
  CHECK(answers[1].errors[0] == std::vector<double>(6, 0));  // every kernel has a maximum of inputs
}

TEST_CASE("scan: a step may have a scan of its own", "[formula]") {
  // The sum of all prefixes' sums of squares, row after row: y(t) = y(t-1) + sum over i of z(i), z(i) = z(i-1) + x(t, i)^2.
  std::vector<double> x = {1, 2, 3, 4, 5, 6 + 0x1p-20}, y(2);
  Formula f;
  f.declare_input("x", {"seq", "keys"}, tensor_of(x, {2, 3}));
  f.declare_output("y", {"seq"}, tensor_of(y, {2}));
  const Stepped all = f.scan(seq, {0.0}, [&](std::span<const Array> before) -> Stepped {
    const Stepped prefixes = f.scan(keys, {0.0, 0.0}, [&](std::span<const Array> inner) -> Stepped {
      const Array prefix = inner[0] + square(f.in("x")) + 0 * before[0];
      return {.states = {prefix, inner[1] + prefix}, .outputs = {}};
    });
    const Array total = before[0] + prefixes.states[1];
    return {.states = {total}, .outputs = {total}};
  });
  f.out("y", all.outputs[0]);
  const Graph graph = f.graph();
  CHECK(parse(to_json(graph)) == graph);
  const Tensor inputs[] = {tensor_of(x, {2, 3})};
  const Declared declared[] = {{.numerics = {}}};
  const Answer answer = evaluate(graph, inputs, {.total = 1}, declared)[0];
  const double last = 6 + 0x1p-20;
  CHECK(answer.values == std::vector<double>{1 + 5 + 14, 20 + 16 + 41 + (41 + last * last)});
  CHECK(answer.errors[0][0] == 0);  // small whole numbers are exact in f32
  CHECK((answer.errors[0][1] > 0x1p-20 && answer.errors[0][1] < 1e-4));
}

TEST_CASE("scan: what is wrong is told with its file and line", "[formula]") {
  const auto told = [](const std::string& message, const std::string& why) {
    INFO(message);
    CHECK(message.find(why) != std::string::npos);
  };
  const auto step_of = [](Formula& f, const std::function<Array(const Array&)>& step) {
    f.out("y", f.scan(seq, {0.0}, [&](std::span<const Array> before) -> Stepped {
                  const Array after = step(before[0]);
                  return {.states = {after}, .outputs = {after}};
                }).outputs[0]);
  };
  CHECK(refused([&](Formula& f) { step_of(f, [&](const Array& s) { return s + f.in("x"); }); }).empty());
  for (const std::string& message : {refused([&](Formula& f) { f.scan(seq, {f.in("x")}, {}); }),
                                     refused([&](Formula& f) { f.scan(Axis("time"), {0.0}, {}); })})
    told(message, "formula_scan_test.cpp:");
  told(refused([&](Formula& f) { f.scan(seq, {f.in("x")}, {}); }), "a state has the axis 'seq' of the steps");
  told(refused([&](Formula& f) { f.scan(Axis("time"), {0.0}, {}); }), "there is no axis 'time'");
  told(refused([&](Formula& f) { f.scan(seq, {}, {}); }), "a scan without states");
  told(refused([&](Formula& f) { f.scan(seq, {0.0}, [](auto) { return Stepped{}; }); }),
       "the scan has 1 states, and its step gives 0");
  told(refused([&](Formula& f) { step_of(f, [&](const Array& s) { return sum(seq)(s + f.in("x")); }); }),
       "a step of the scan works along the axis of its steps");
  told(refused([&](Formula& f) {
         step_of(f, [&](const Array& s) {
           f.rename("x", keys, Axis("other"));
           return s;
         });
       }),
       "an axis gets another name within a step of a scan");
  told(refused([&](Formula& f) {
         step_of(f, [&](const Array& s) {
           f.out("y", f.in("x"));
           return s;
         });
       }),
       "an output is given within a step of a scan");
  const std::string leaked = refused([&](Formula& f) {
    std::vector<Array> kept;
    f.scan(seq, {0.0}, [&](std::span<const Array> before) -> Stepped {
      kept.push_back(before[0]);
      return {.states = {before[0] + f.in("x")}, .outputs = {}};
    });
    f.out("y", f.in("x") + kept.back());
  });
  CHECK(leaked == "an array of a scan's step is used outside of that step");
}

TEST_CASE("scan: its text reads back, and others are refused", "[formula]") {
  const Graph graph = Decaying().graph;
  const std::string good = to_json(graph);
  CHECK(parse(good) == graph);
  CHECK(good.size() < 2000);
  const auto changed = [&](std::string_view from, std::string_view to) { return test::replaced(good, from, to); };
  CHECK_THROWS_AS(parse(changed("\"body\":", "\"other\":")), FormulaError);
  CHECK_THROWS_AS(
      parse(changed("\"kind\":\"given\",\"axes\":[0,2,3],\"number\":0.0", "\"kind\":\"given\",\"axes\":[0,2,3],\"number\":9.0")),
      FormulaError);
  CHECK_THROWS_AS(parse(changed("\"kind\":\"given\",\"axes\":[0,2,3]", "\"kind\":\"given\",\"axes\":[0,2]")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"kind\":\"given\",\"axes\":[0,2,3]", "\"kind\":\"index\",\"axes\":[1]")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"over\":[1],\"number\":1.0", "\"over\":[1],\"number\":0.5")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"over\":[1],\"number\":1.0", "\"over\":[1],\"number\":3.0")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"over\":[1],\"number\":1.0", "\"number\":1.0")), FormulaError);
}

TEST_CASE("scan: its costs are those of all steps", "[formula]") {
  const Graph graph = Decaying().graph;
  const AxisUse axes[] = {{assay::Axis::batch, 0}, {{"seq"}, 0}, {{"keys"}, 1}, {{"values"}, 0}};
  const FormulaFacts facts = facts_of(graph, axes);
  CHECK(facts.recurrent == std::vector<std::string>{"seq"});
  CHECK(facts.summed == std::vector<std::string>{"keys"});
  // Of a step: three products and sums for the state, two operations for each term of the output.
  CHECK(facts.cost.flops == kSteps * kBatch * kKeys * kValues * (3 + 2));
  double read = 0;
  for (const Port& p : graph.inputs) read += static_cast<double>(graph.size(set_of(p.axes)) * size_of(p.dtype));
  CHECK(facts.cost.bytes_read == read);
  CHECK(facts.cost.unfused_bytes > facts.cost.bytes());
  CHECK_FALSE(facts.only_sums);
  // Tensor cores would take several steps at once.
  CHECK(has_rules(graph, {}));
  CHECK_FALSE(has_rules(graph, {.mma_terms = 8}));
}

}  // namespace assay::formula
