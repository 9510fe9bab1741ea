// SPDX-License-Identifier: Apache-2.0
// Tests how formulas are recorded, written as text and read, and evaluated in parts.
#include <cmath>
#include <cstring>
#include <functional>
#include <span>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/formula_testing.hpp"

namespace assay {
namespace {

using namespace formula;

// A recorder with x [rows, cols], w [out, cols] and y of the given axes.
struct Recorded {
  Formula f;
  explicit Recorded(const std::vector<std::string>& axes_of_y) {
    const auto tensor = [](std::initializer_list<std::int64_t> shape) {
      Tensor t;
      for (const std::int64_t extent : shape) t.shape[static_cast<std::size_t>(t.rank++)] = extent;
      return t;
    };
    const auto extent = [](std::string_view axis) { return axis == "rows" ? 3 : axis == "cols" ? 5 : 4; };
    f.declare_input("x", {"rows", "cols"}, tensor({3, 5}));
    f.declare_input("w", {"out", "cols"}, tensor({4, 5}));
    Tensor y;
    for (const std::string& axis : axes_of_y) y.shape[static_cast<std::size_t>(y.rank++)] = extent(axis);
    f.declare_output("y", axes_of_y, y);
  }
};

std::string refused(const std::function<void(Formula&)>& write, const std::vector<std::string>& axes_of_y = {"rows", "cols"}) {
  Recorded r(axes_of_y);
  try {
    write(r.f);
    r.f.graph();
  } catch (const FormulaError& e) {
    return e.what();
  }
  return "";
}

std::vector<std::string> kinds(const Graph& g) {
  std::vector<std::string> list;
  for (const Node& n : g.nodes) list.emplace_back(info(n.kind).name);
  return list;
}

}  // namespace

// The largest size in each block of 128 channels, the last of which is shorter.
TEST_CASE("formula: a reduction of blocks has an axis of the formula's own", "[formula]") {
  constexpr std::int64_t kTokens = 3, kChannels = 300;
  std::vector<double> x(kTokens * kChannels), scale(kTokens * 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * 7919) % 1009) - 504;
  Formula f;
  f.declare_input("x", {"tokens", "channels"}, dense(x.data(), f64, {kTokens, kChannels}));
  f.declare_output("scale", {"tokens", "channels/128"}, dense(scale.data(), f64, {kTokens, 3}));
  {
    using formula::Axis, formula::Array;
    const Array at = 128 * f.index(Axis("channels/128")) + f.index(Axis("within"), 128);
    const Array size = absolute(take(f.in("x"), Axis("channels"), minimum(at, f.extent(Axis("channels")) - 1.0)));
    f.out("scale", max(Axis("within"))(size));
  }
  const std::vector<Tensor> inputs{dense(x.data(), f64, {kTokens, kChannels})};
  const std::vector<Declared> declared{{.numerics = {}, .errors = Errors::independent, .storage = f16}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = kTokens}, declared);
  for (std::size_t token = 0; token < kTokens; ++token)
    for (std::size_t block = 0; block < 3; ++block) {
      double most = 0;
      for (std::size_t c = 128 * block; c < std::min<std::size_t>(128 * (block + 1), kChannels); ++c)
        most = std::max(most, std::fabs(x[token * kChannels + c]));
      CHECK(answers[0].values[token * 3 + block] == most);
      CHECK(answers[0].errors[0][token * 3 + block] == 0);
    }
}

// Rows that go to places of another axis: the last first, and the first nowhere.
TEST_CASE("formula: elements are put to places, with their errors, and 0 where none goes", "[formula]") {
  using formula::Axis, formula::Array;
  constexpr std::int64_t kTokens = 4, kSlots = 6;
  std::vector<double> x(kTokens * 2), y(kSlots * 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + 0x1p-23 * static_cast<double>(i + 1);
  const auto put_with = [&](const std::function<Array(Formula&)>& places) {
    Formula f;
    f.declare_input("x", {"tokens", "channels"}, dense(x.data(), f64, {kTokens, 2}));
    f.declare_output("y", {"slots", "channels"}, dense(y.data(), f64, {kSlots, 2}));
    const Array squares = f.in("x") * f.in("x");
    f.out("y", put(squares, Axis("slots"), places(f)));
    CHECK(parse(to_json(f.graph())) == f.graph());
    const std::vector<Tensor> inputs{dense(x.data(), f64, {kTokens, 2})};
    const std::vector<Declared> declared{{.numerics = {}}};
    return evaluate(f.graph(), inputs, {.total = kSlots}, declared)[0];
  };
  const Answer a = put_with([](Formula& f) { return where(f.index(Axis("tokens")) < 1, -1, 5 - f.index(Axis("tokens"))); });
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t i = slot * 2 + c;
      const bool is_written = slot >= 2 && slot <= 4;
      const double from = is_written ? x[(5 - slot) * 2 + c] : 0;
      CHECK(a.values[i] == from * from);
      CHECK(a.errors[0][i] == std::fabs(from * from - static_cast<double>(static_cast<float>(from * from))));
    }
  CHECK(a.errors[0][4] > 0);
  CHECK_THROWS_AS(put_with([](Formula& f) { return quotient(f.index(Axis("tokens")), 2); }), FormulaError);

  const auto has = [](const std::string& text, std::string_view words) { return text.find(words) != text.npos; };
  CHECK(has(refused([](Formula& f) { f.out("y", put(f.in("x"), Axis("cols"), f.index(Axis("rows")))); }), "'cols' already"));
  CHECK(has(refused([](Formula& f) { f.out("y", put(f.in("x"), Axis("none"), f.index(Axis("rows")))); }), "no axis 'none'"));
  const auto at_a_number = [](Formula& f) { f.out("y", put(f.in("x"), Axis("out"), sum(Axis("rows"))(f.index(Axis("rows"))))); };
  CHECK(has(refused(at_a_number), "the places have no axis"));
}

// Each row's mean of the two last of the keys that it sees, which are put in reverse.
TEST_CASE("formula: what is put along an axis stays in place where a mask leaves a part of that axis", "[formula]") {
  using formula::Axis, formula::Array;
  constexpr std::int64_t kKeys = 8;
  std::vector<double> x, y(kKeys);
  for (std::int64_t i = 0; i < kKeys; ++i) x.push_back(static_cast<double>(i * i));
  Formula f;
  f.declare_input("x", {"tokens"}, dense(x.data(), f64, {kKeys}));
  f.declare_output("y", {"rows", "channels"}, dense(y.data(), f64, {kKeys, 1}));
  const Axis keys("keys"), rows("rows");
  const Array key = f.index(keys, kKeys), row = f.index(rows);
  const Array scores = where(key <= row && row - 2 < key, 0 * key, -INFINITY);
  const Array values = put(f.in("x"), keys, 7 - f.index(Axis("tokens"))) + 0 * f.index(Axis("channels"));
  f.out("y", sum(keys)(softmax(keys)(scores) * values));
  const std::vector<Tensor> inputs{dense(x.data(), f64, {kKeys})};
  const std::vector<Declared> declared{{.numerics = {}}};
  const Rows sampled{.total = kKeys, .sample = {5}};
  for (const Rows& of : {Rows{.total = kKeys}, sampled}) {
    const Answer a = evaluate(f.graph(), inputs, of, declared)[0];
    CHECK(a.values[5] == (x[7 - 5] + x[7 - 4]) / 2);
  }
}

TEST_CASE("formula: an axis of the formula's own has one extent, and is made outside of scans", "[formula]") {
  using formula::Axis, formula::Array;
  const auto has = [](const std::string& text, std::string_view words) { return text.find(words) != text.npos; };
  const auto with = [](std::int64_t extent) {
    return [extent](Formula& f) { f.out("y", f.in("x") + sum(Axis("own"))(f.index(Axis("own"), extent))); };
  };
  CHECK(refused(with(2)) == "");
  CHECK(has(refused(with(-1)), "negative extent"));
  CHECK(has(refused([](Formula& f) { f.out("y", f.in("x") + f.index(Axis("cols"), 5)); }), "is a tensor's"));
  const auto twice = [](Formula& f) {
    f.out("y", f.in("x") + sum(Axis("own"))(f.index(Axis("own"), 2)) + sum(Axis("own"))(f.index(Axis("own"), 3)));
  };
  CHECK(has(refused(twice), "already"));
  const auto in_scan = [](Formula& f) {
    const auto next = [&](std::span<const formula::Array> before) -> Stepped {
      return {.states = {before[0] + sum(Axis("own"))(f.index(Axis("own"), 2))}, .outputs = {before[0]}};
    };
    f.out("y", f.scan(Axis("cols"), {0.0}, next).outputs[0] + 0 * f.in("x"));
  };
  CHECK(has(refused(in_scan), "make it before the scan"));
}

TEST_CASE("formula: a sum of products of arrays with different axes is a contraction", "[formula]") {
  Recorded product({"rows", "out"});
  product.f.out("y", sum(formula::Axis("cols"))(product.f.in("x") * product.f.in("w")));
  CHECK(kinds(product.f.graph()) == std::vector<std::string>{"input", "input", "dot"});

  Recorded squares({"rows"});
  squares.f.out("y", sum(formula::Axis("cols"))(squares.f.in("x") * squares.f.in("x")));
  CHECK(kinds(squares.f.graph()) == std::vector<std::string>{"input", "input", "multiply", "sum"});
}

TEST_CASE("formula: equal nodes are one, and nodes that no output needs are left out", "[formula]") {
  Recorded r({"rows", "cols"});
  const formula::Array x = r.f.in("x");
  exp(x);
  r.f.out("y", square(x) + square(x));
  CHECK(kinds(r.f.graph()) == std::vector<std::string>{"input", "input", "square", "add"});
}

TEST_CASE("formula: what is wrong is told with its file and line", "[formula]") {
  const auto told = [](const std::string& message, const std::string& why) {
    INFO(message);
    CHECK(message.find("formula_test.cpp:") != std::string::npos);
    CHECK(message.find(why) != std::string::npos);
  };
  const formula::Axis cols("cols");
  told(refused([](Formula& f) { f.in("z"); }), "there is no input 'z'");
  told(refused([](Formula& f) { f.out("z", f.in("x")); }), "there is no output 'z'");
  told(refused([](Formula& f) { f.out("y", sum(formula::Axis("depth"))(f.in("x"))); }), "there is no axis 'depth'");
  told(refused([](Formula& f) { f.out("y", sum(formula::Axis("out"))(f.in("x"))); }),
       "the array has no axis 'out', only rows, cols");
  told(refused([&](Formula& f) { f.out("y", sum(cols, cols)(f.in("x"))); }), "the axis 'cols' is named twice");
  told(refused([&](Formula& f) { f.out("y", sum(cols)(f.in("x"))); }), "the output 'y' has rows, cols, and the array rows");
  told(refused([](Formula& f) { f.out("y", f.in("x") * f.in("w")); }),
       "the output 'y' has rows, cols, and the array rows, out, cols");
  told(refused([](Formula& f) { f.out("y", f.in("x") / 0.0); }), "a division by 0");
  told(refused([](Formula& f) { f.out("y", f.in("x") * std::nan("")); }), "a constant that is no number");
  told(refused([](Formula& f) { f.out("y", Operand(1) + Operand(2)); }), "an operation on two numbers");
  told(refused([](Formula& f) {
         f.out("y", f.in("x"));
         f.out("y", f.in("x"));
       }),
       "the output 'y' is given twice");
  CHECK(refused([](Formula&) {}) == "the output 'y' is not given");
}

TEST_CASE("formula: what takes places that are not there is refused, on threads too", "[formula]") {
  for (const std::int64_t rows : {3, 4096}) {  // by one thread; by several
    std::vector<double> x(static_cast<std::size_t>(rows * 256)), y = x;
    Formula f;
    f.declare_input("x", {"rows", "cols"}, test::matrix(x, rows, 256));
    f.declare_output("y", {"rows", "cols"}, test::matrix(y, rows, 256));
    const formula::Array in = f.in("x");
    f.out("y", take(in, formula::Axis("cols"), f.index(formula::Axis("cols")) + 1) + in);
    const Tensor inputs[] = {test::matrix(x, rows, 256)};
    CHECK_THROWS_AS(evaluate(f.graph(), inputs, {.total = rows}, {}), FormulaError);
  }
}

TEST_CASE("formula: what is infinite has no error, and neither has what a cap makes of it but its own", "[formula]") {
  std::vector<double> x = {-kInfinity, 0.5, kInfinity}, w = {2}, y(3);
  Formula f;
  f.declare_input("x", {"rows", "cols"}, test::matrix(x, 3, 1));
  f.declare_input("w", {"out", "cols"}, test::matrix(w, 1, 1));
  f.declare_output("y", {"rows", "out"}, test::matrix(y, 3, 1));
  const formula::Array product = sum(formula::Axis("cols"))(f.in("x") * f.in("w"));
  f.out("y", tanh(product * 0.1 / 5.0));
  const Tensor inputs[] = {test::matrix(x, 3, 1), test::matrix(w, 1, 1)};
  const Declared declared[] = {{.numerics = {}}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 3}, declared);
  CHECK((answers[0].values.front() == -1 && answers[0].values.back() == 1));
  for (const double error : answers[0].errors[0]) CHECK((error > 0 && error < 1e-5));
}

TEST_CASE("formula: of zeros the maximum is +0, or either", "[formula]") {
  std::vector<double> x = {-0.0, 0.0, -0.0, -0.0, -0.0, -0.0}, of_rows(2), of_cols(3);
  Formula f;
  f.declare_input("x", {"rows", "cols"}, test::matrix(x, 2, 3));
  f.declare_output("a", {"rows"}, test::vector_of(of_rows));
  f.declare_output("b", {"cols"}, test::vector_of(of_cols));
  f.out("a", max(formula::Axis("cols"))(f.in("x")));
  f.out("b", max(formula::Axis("rows"))(f.in("x")));
  const Tensor inputs[] = {test::matrix(x, 2, 3)};
  const Declared declared[] = {{.numerics = {}}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 2}, declared);
  const auto signs = [](const std::vector<double>& v) {
    std::vector<bool> list;
    for (const double d : v) list.push_back(std::signbit(d));
    return list;
  };
  CHECK(signs(answers[0].values) == std::vector<bool>{false, true});
  CHECK(signs(answers[1].values) == std::vector<bool>{true, false, true});
  CHECK(answers[0].errors[0] == std::vector<double>{0x1p-200, 0});  // a kernel may return either zero
  CHECK(answers[1].errors[0] == std::vector<double>{0, 0x1p-200, 0});
}

// A kernel's sum mostly starts at 0, so that it is +0 where all terms are -0.  Products of one term, of few and of many take
// different ways.
TEST_CASE("formula: a sum whose terms are all -0 is +0", "[formula]") {
  for (const std::int64_t terms : {1, 2, 9, 64})
    for (const std::int64_t rows : {1, 3, 40}) {
      std::vector<double> x(static_cast<std::size_t>(rows * terms), -0.0), w(static_cast<std::size_t>(5 * terms), 1.0);
      std::vector<double> products(static_cast<std::size_t>(rows * 5));
      Formula f;
      f.declare_input("x", {"rows", "cols"}, test::matrix(x, rows, terms));
      f.declare_input("w", {"out", "cols"}, test::matrix(w, 5, terms));
      f.declare_output("y", {"rows", "out"}, test::matrix(products, rows, 5));
      f.out("y", sum(formula::Axis("cols"))(f.in("x") * f.in("w")));
      const Tensor inputs[] = {test::matrix(x, rows, terms), test::matrix(w, 5, terms)};
      const Declared declared[] = {{.numerics = {}}};
      CAPTURE(terms, rows);
      const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = rows}, declared);
      for (const double v : answers[0].values) REQUIRE((v == 0 && !std::signbit(v)));
    }
}

// Kernels that start at a term return -0 there, and nowhere else.  So do those that multiply by the weights of a row that sees
// nothing.
TEST_CASE("formula: of a sum of -0 alone, and of a mean of nothing, a kernel may return either zero", "[formula]") {
  std::vector<double> x = {-0.0, -0.0, 0.0, -0.0, 0.0, 0.0}, scores(6), v = {-1.0, -1.0}, sums(3), means(3);
  Formula f;
  f.declare_input("x", {"rows", "cols"}, test::matrix(x, 3, 2));
  f.declare_input("scores", {"rows", "cols"}, test::matrix(scores, 3, 2));
  f.declare_input("v", {"cols"}, test::vector_of(v));
  f.declare_output("s", {"rows"}, test::vector_of(sums));
  f.declare_output("m", {"rows"}, test::vector_of(means));
  const formula::Axis rows("rows"), cols("cols");
  f.out("s", sum(cols)(f.in("x")));
  const formula::Array seen = where(f.index(cols) < f.index(rows), f.in("scores"), -std::numeric_limits<double>::infinity());
  f.out("m", sum(cols)(softmax_or_zero(cols)(seen) * f.in("v")));
  const Tensor inputs[] = {test::matrix(x, 3, 2), test::matrix(scores, 3, 2), test::vector_of(v)};
  const Declared declared[] = {{.numerics = {}}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 3}, declared);
  CHECK(answers[0].errors[0] == std::vector<double>{0x1p-200, 0, 0});
  CHECK(answers[1].values == std::vector<double>{0, -1, -1});
  CHECK(answers[1].errors[0][0] == 0x1p-200);
}

TEST_CASE("formula: a mean over a row of only -inf reads nothing", "[formula]") {
  std::vector<double> x = {-kInfinity, -kInfinity, 0, 0}, v = {kNaN, 1}, y(2);
  Formula f;
  f.declare_input("x", {"rows", "cols"}, test::matrix(x, 2, 2));
  f.declare_input("v", {"cols"}, test::vector_of(v));
  f.declare_output("y", {"rows"}, test::vector_of(y));
  f.out("y", sum(formula::Axis("cols"))(formula::softmax_or_zero(formula::Axis("cols"))(f.in("x")) * f.in("v")));
  const Tensor inputs[] = {test::matrix(x, 2, 2), test::vector_of(v)};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 2}, {});
  CHECK(answers[0].values[0] == 0);
  CHECK(std::isnan(answers[0].values[1]));
}

TEST_CASE("formula: a step has a name that declarations can have, and a softmax has its own", "[formula]") {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const auto with_step = [](const char* name) { return refused([name](Formula& f) { f.out("y", step(name, f.in("x") * 2)); }); };
  for (const char* name : {"", "all", "exps", "weights", "Z", "a,b", "a:f16"}) CHECK(has(with_step(name), "cannot name a step"));
  CHECK(with_step("z_1") == "");
  CHECK(has(refused([](Formula& f) { f.out("y", either(f.in("x") * 2, f.in("x") + f.in("x"), "a,b")); }), "cannot name a way"));

  std::vector<double> x = {1}, y(1);
  Formula f;
  f.declare_input("x", {"rows"}, test::vector_of(x));
  f.declare_output("y", {"rows"}, test::vector_of(y));
  f.out("y", step("z", f.in("x") * 2));
  std::string json = to_json(f.graph());
  CHECK(parse(json) == f.graph());
  json.replace(json.find("\"z\""), 3, "\"z,all\"");
  CHECK_THROWS_AS(parse(json), FormulaError);
}

TEST_CASE("formula: what is stored may be stored before its last addition", "[formula]") {
  std::vector<double> x = {100}, b = {-99.9}, y(1);
  Formula f;
  f.declare_input("x", {"rows"}, test::vector_of(x));
  f.declare_input("b", {"rows"}, test::vector_of(b));
  f.declare_output("y", {"rows"}, test::vector_of(y));
  f.out("y", step("z", step("product", square(f.in("x")) * 0.01) + f.in("b")));
  const Tensor inputs[] = {test::vector_of(x), test::vector_of(b)};
  Numerics stores;
  stores.stores = "z";
  const Declared declared[] = {{.numerics = {}, .storage = f16}, {.numerics = stores, .storage = f16}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 1}, declared);
  const double of_storing = answers[0].errors[1][0] - answers[0].errors[0][0];
  CHECK(of_storing >= 0x1p-11 * 100);
  CHECK(of_storing < 0x1p-10 * 100);
}

TEST_CASE("formula: of a maximum or minimum of two zeros a kernel may return either", "[formula]") {
  std::vector<double> x = {-0.0, 0.0, -1, 1}, y(4), z(4);
  Formula f;
  f.declare_input("x", {"rows"}, test::vector_of(x));
  f.declare_output("y", {"rows"}, test::vector_of(y));
  f.declare_output("z", {"rows"}, test::vector_of(z));
  f.out("y", maximum(f.in("x"), 0.0));
  f.out("z", minimum(f.in("x"), 0.0));
  const Tensor inputs[] = {test::vector_of(x)};
  const Declared declared[] = {{.numerics = {}}};
  const std::vector<Answer> answers = evaluate(f.graph(), inputs, {.total = 4}, declared);
  CHECK(answers[0].errors[0] == std::vector<double>{0x1p-200, 0, 0, 0});
  CHECK(answers[1].errors[0] == std::vector<double>{0x1p-200, 0, 0, 0});
  CHECK((!std::signbit(answers[0].values[0]) && std::signbit(answers[1].values[0])));
}

TEST_CASE("formula: a graph reads back from its text, and other texts are refused", "[formula]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    const Op& op = *find_op(f->op);
    for (const Case& c : test::near_cases(datasets, op.shape(), "first", {.reduce = true})) {
      if (elements(c, op.shape()) > 1 << 16) continue;
      const Graph g = test::trace(test::FilledCase(op, c));
      INFO(repro(c, op.shape()));
      const std::string text = to_json(g);
      CHECK(parse(text) == g);
      CHECK(text.size() < 8000);
    }
  }
  Recorded r({"rows", "cols"});
  r.f.out("y", maximum(r.f.in("x"), -kInfinity) * 0.1);
  const std::string good = to_json(r.f.graph());
  CHECK(parse(good) == r.f.graph());
  const auto changed = [&](std::string_view from, std::string_view to) { return test::replaced(good, from, to); };
  CHECK_THROWS_AS(parse(""), FormulaError);
  CHECK_THROWS_AS(parse("{}"), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"maximum\"", "\"biggest\"")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"-inf\"", "\"much\"")), FormulaError);
  CHECK_THROWS_AS(parse(changed("[\"rows\",3]", "[\"rows\",-3]")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"of\":[0,2]", "\"of\":[0,9]")), FormulaError);
  CHECK_THROWS_AS(parse(changed("\"of\":[0,2]", "\"of\":[0]")), FormulaError);
  CHECK_THROWS_AS(parse(changed("[\"x\",\"f32\",[0,2]", "[\"x\",\"f32\",[0]")), FormulaError);
}

TEST_CASE("formula: axes have the order of most tensors", "[formula]") {
  CHECK(Recorded({"rows", "out"}).f.recorded().axis_names == std::vector<std::string>{"rows", "out", "cols"});
}

TEST_CASE("formulas: arrays begin at multiples of 64 bytes, so that bits do not depend on what else is in memory", "[formula]") {
  std::vector<Numbers> kept;
  for (std::size_t count = 2; count < 100; ++count) {
    kept.push_back(Numbers::all(count, 1));
    CHECK(reinterpret_cast<std::uintptr_t>(kept.back().data()) % 64 == 0);
    CHECK(std::ranges::count(kept.back(), 1) == static_cast<std::ptrdiff_t>(count));
  }
}

TEST_CASE("formula: a copy of an array keeps its elements when the other is written", "[formula]") {
  Numbers all{1, 2, 3};
  const Numbers copy = all, some = all.part(1, 2);
  all.own()[1] = 5;
  CHECK(all[1] == 5);
  CHECK(copy[1] == 2);
  CHECK(some[0] == 2);
}

namespace {
bool near(double a, double b, double allowed) { return std::memcmp(&a, &b, sizeof a) == 0 || std::fabs(a - b) <= allowed; }
}  // namespace

TEST_CASE("formula: rows alone have the values and bounds that they have in the whole", "[formula]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  int compared = 0;
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    const Op& op = *find_op(f->op);
    for (const Case& c : test::near_cases(datasets, op.shape(), "first", {.reduce = true})) {
      const std::int64_t size = elements(c, op.shape());
      if (size == 0 || size > 1 << 17) continue;
      test::FilledCase made(op, c);
      const Graph g = test::trace(made);
      if (cut_axes(g).empty() || g.outputs[0].axes.size() < 2) continue;
      const std::vector<Tensor> inputs = test::inputs_of(g, made);
      const Declared declared[] = {{.numerics = {}, .errors = Errors::independent, .storage = c.dtype}};
      std::int64_t rows = 1;
      for (std::size_t d = 0; d + 1 < g.outputs[0].axes.size(); ++d)
        rows *= g.extents[static_cast<std::size_t>(g.outputs[0].axes[d])];
      const Rows some{.total = rows, .sample = {rows / 3, rows - 1}};
      const std::vector<Answer> whole = evaluate(g, inputs, {.total = rows}, declared),
                                part = evaluate(g, inputs, some, declared);
      const auto length = static_cast<std::int64_t>(whole[0].values.size()) / rows;
      for (const std::int64_t row : some.sample)
        for (std::int64_t i = row * length; i < (row + 1) * length; ++i, ++compared) {
          const auto k = static_cast<std::size_t>(i);
          // Note: a product of few rows adds in another order than one of many.
          const double allowed = 1e-9 * whole[0].errors[0][k];
          const bool same =
              near(whole[0].values[k], part[0].values[k], allowed) && near(whole[0].errors[0][k], part[0].errors[0][k], allowed);
          if (!same) FAIL(repro(c, op.shape()) << " element " << i);
        }
    }
  }
  CHECK(compared > 10'000);
}

}  // namespace assay
