// SPDX-License-Identifier: Apache-2.0
// Ops that files describe: they are what the same ops of the tree are, bit for bit, and a wrong file is told where.
#include "validate/opfile/op_file.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"
#include "validate/base/error.hpp"

using namespace assay;

namespace {

OwnOp read_text(const std::string& text) {
  static int number = 0;
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("assay-op-" + std::to_string(::getpid()) + "-" + std::to_string(++number) + ".json");
  std::ofstream(path) << text;
  struct Removed {
    std::filesystem::path path;
    ~Removed() { std::filesystem::remove(path); }
  } const removed{path};
  return read_op_file(path);
}

struct Twin {
  const char* op;
  const char* text;
};
// Ops of the tree, said once more.
constexpr Twin kTwins[] = {
    {"rmsnorm", R"json({"op": "own_rmsnorm", "axes": {"rows": 0}, "inputs": {"x": "rows cols"}, "weights": {"gamma": "cols"},
      "outputs": {"y": "rows cols"}, "attributes": {"epsilon": 1e-5},
      "formula": ["xhat = step[xhat](x * rsqrt(mean[cols](square(x)) + epsilon))", "y = xhat * gamma"]})json"},
    {"gelu",
     R"json({"op": "own_gelu", "axes": {"rows": 0, "cols": 0}, "inputs": {"x": "rows cols"}, "outputs": {"y": "rows cols"},
      "attributes": {"form": ["tanh", "erf"]}, "formula": ["y = where(form == tanh, gelu_tanh(x), gelu_erf(x))"]})json"},
    {"linear", R"json({"op": "own_linear", "axes": {"tokens": 0, "out": 0}, "inputs": {"x": "tokens hidden"},
      "weights": {"weight": "out hidden", "bias": {"axes": "out", "present_if": "bias_is"}}, "outputs": {"y": "tokens out"},
      "attributes": {"bias_is": ["no", "yes"]},
      "formula": ["z = sum[hidden](x * weight)", "y = where(bias_is == yes, z + bias, z)"]})json"},
    {"embedding", R"json({"op": "own_embedding", "axes": {"tokens": 0, "hidden": 0}, "inputs":
      {"table": "vocab hidden", "ids": {"axes": "tokens", "dtype": "i32", "holds": "indices_of(vocab)"}},
      "outputs": {"y": "tokens hidden"}, "formula": ["y = take[vocab](table, ids)"]})json"},
    {"cross_entropy", R"json({"op": "own_cross_entropy", "inputs": {"x": "tokens vocab",
      "target": {"axes": "tokens", "dtype": "i32", "holds": "indices_of(vocab)"}},
      "outputs": {"loss": {"axes": "tokens", "dtype": "f32"}, "mean": {"axes": "1", "dtype": "f32"}},
      "formula": ["loss = -take[vocab](log_softmax[vocab](x), target)", "mean = mean[tokens](loss)"]})json"},
};

bool same_bits(std::span<const double> a, std::span<const double> b) {
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

const char* const kGood = R"json({"op": "mine", "inputs": {"x": "rows cols"}, "outputs": {"y": "rows cols"},
  "attributes": {"epsilon": 0.5, "form": ["plain", "wide"]}, "formula": ["y = x + where(form == wide, 2 * epsilon, epsilon)"]})json";

}  // namespace

TEST_CASE("op files: an op of a file has the goldens and bounds of the same op of the tree", "[golden]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const Twin& twin : kTwins) {
    INFO(twin.op);
    const OwnOp own = read_text(twin.text);
    const Op op = make_op(own);
    const Op& ours = *find_op(twin.op);
    CHECK(op.formula.summed == ours.formula.summed);
    CHECK(op.formula.only_sums == ours.formula.only_sums);
    CHECK(op.formula.last_addend == ours.formula.last_addend);
    REQUIRE(op.tensors.size() == ours.tensors.size());
    int compared = 0;
    for (Case c : test::near_cases(datasets, ours.shape(), "random", {.seed = 3, .count = 24, .reduce = true})) {
      c = test::fewer_rows(c, ours.shape(), 60'000);
      Case same = c;
      same.op = op.name;
      same.attributes.clear();
      for (const auto& [name, value] : c.attributes) same.attributes[name == "bias" ? "bias_is" : name] = value;
      if (std::ranges::find(ours.hooks.fills, c.fill, &Fill::name) != ours.hooks.fills.end()) continue;  // of the tree's op alone
      INFO(repro(c, ours.shape()));
      const test::FilledCase filled(op, same), of_ours(ours, c);
      filled.problem().solve();
      of_ours.problem().solve();
      for (int output = 0; output < static_cast<int>(std::ranges::count(op.tensors, Role::output, &TensorSpec::role)); ++output) {
        CHECK(same_bits(filled.problem().golden(output), of_ours.problem().golden(output)));
        for (const Numerics& n : {Numerics{}, Numerics{.accumulate = f16}, Numerics{.mma_terms = 8}})
          CHECK(same_bits(filled.problem().bounds(n, output), of_ours.problem().bounds(n, output)));
        ++compared;
      }
    }
    CHECK(compared >= 10);
  }
}

TEST_CASE("op files: a wrong file is told in a sentence, with the place") {
  CHECK_NOTHROW(make_op(read_text(kGood)));
  const auto replaced = [](std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
  };
  struct Wrong {
    const char *from, *to, *sentence;
  };
  const Wrong wrongs[] = {
      {R"("op": "mine", )", "", ": /: 'op' is missing."},
      {R"("mine")", R"("My op")", ": /op: the name of an op is of small letters, digits and _, and begins with a letter."},
      {R"("inputs")", R"("inputz")", ": /: unknown key 'inputz'. Did you mean 'inputs'?"},
      {R"("rows cols"})", R"("rows cols/0"})", ": /inputs/x: '0' is no whole number above 0."},
      {R"("rows cols"})", R"("rows Cols"})",
       ": /inputs/x: the name of an axis is of small letters, digits and _, and begins with a letter."},
      {R"({"x")", R"({"epsilon")", ": /inputs/epsilon: there are two things of the name 'epsilon'."},
      {R"("outputs": {"y": "rows cols"},)", "", ": /: an op has at least one output, under 'outputs'."},
      {R"("x": "rows cols")", R"("x": {"axes": "rows cols", "dtype": "f17"})", ": /inputs/x/dtype: unknown dtype 'f17'."},
      {R"("x": "rows cols")", R"("x": {"axes": "rows cols", "holds": "gates"})",
       ": /inputs/x/holds: expected between(LEAST, MOST),"},
      {R"("x": "rows cols")",
       R"json("ids": {"axes": "rows", "dtype": "i32", "holds": "indices_of(vocab)"}, "x": "rows cols")json",
       ": /inputs/ids/holds: no tensor has the axis 'vocab'."},
      {R"("x": "rows cols")", R"("x": {"axes": "rows cols", "present_if": "epsilon"})",
       ": /inputs/x/present_if: the op has no choice 'epsilon'."},
      {"0.5", "\"half\"", ": /attributes/epsilon: expected a number."},
      {R"("wide")", R"("plain")", ": /attributes/form/1: it stands there twice."},
      {R"("inputs")", R"("axes": {"cols": [5, 4]}, "inputs")",
       ": /axes/cols: expected the least extent, or the least and the largest, like [4, 4]."},
      {R"("inputs")", R"("axes": {"tokens": 0}, "inputs")", ": /axes/tokens: no tensor has it; unknown axis 'tokens'."},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y = x + epsilo",
       ": /formula: line 1 of the formula, 'y = x + epsilo': 'epsilo' has no value there"},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y = x +",
       ": /formula: line 1 of the formula, 'y = x +': it ends where a value is expected"},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y = (x + epsilon",
       ": /formula: line 1 of the formula, 'y = (x + epsilon': ')' is missing"},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y = squared(x)",
       ": /formula: line 1 of the formula, 'y = squared(x)': there is no function 'squared'"},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y = sum(x)",
       "'y = sum(x)': 'sum' takes axes in brackets and one argument"},
      {"[\"y = ", "[\"z = x * x\", \"y = ", "line 1 of the formula, 'z = x * x': nothing uses 'z'"},
      {"[\"y = ", "[\"y = x\", \"y = ", "'y' has a value already"},
      {"where(form == wide, 2 * epsilon, epsilon)", "epsilon",
       ": /attributes/form: neither the formula nor a condition uses it."},
      {R"("x": "rows cols")", R"("x": "rows cols", "z": "rows")", ": /formula: no line uses the input 'z'"},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y",
       "line 1 of the formula, 'y': it is no assignment, like 'y = square(x)'"},
      {"x + where(form == wide, 2 * epsilon, epsilon)", "where(form == wide, x, epsilon)",
       "'y' must be an array, and is a number"},
      {"x + where", "sum[cols](x) + where", "the output 'y' has rows, cols, and the array rows"},
      {"x + where", "x * sum[width](x) + where", "there is no axis 'width'"},
      {"y = x + where(form == wide, 2 * epsilon, epsilon)", "y = where(form == narrow, x, 2 * x)", "'narrow' has no value there"},
      {"x + where", "rounded_to[f17](x) + where", "there is no dtype 'f17'"},
      {R"("formula")", R"("legal": ["extent[cols] >= x"], "formula")",
       ": /legal/0: the condition 'extent[cols] >= x': 'x' has no value there"},
  };
  for (const Wrong& w : wrongs) {
    INFO(w.to);
    std::string said;
    try {
      const OwnOp own = read_text(replaced(kGood, w.from, w.to));
      make_op(own);
    } catch (const BadInput& e) {
      said = e.what();
    }
    CHECK_THAT(said, Catch::Matchers::Contains(w.sentence));
  }
  CHECK_THROWS_AS(read_text("{"), BadInput);
  CHECK_THROWS_AS(read_text(std::string(100'000, '[')), BadInput);
}

TEST_CASE("op files: a recurrence goes along an axis", "[golden]") {
  const OwnOp own = read_text(R"json({"op": "own_scan", "axes": {"steps": 0}, "inputs": {"x": "batch steps",
    "gate": {"axes": "batch steps", "holds": "between(0, 1)"}, "first": "batch"}, "outputs": {"y": "batch steps", "last": "batch"},
    "formula": ["last, y = scan[steps](last = 2 * first) { h = gate * last; last = h + x; y = last }"]})json");
  const Op op = make_op(own);
  Case c{.op = "own_scan", .dims = {}, .attributes = {}};
  c.dims[Axis::batch] = 3;
  c.dims[Axis{"steps"}] = 7;
  const test::FilledCase filled(op, c);
  filled.problem().solve();
  const Tensor &x = filled.tensor("x"), &gate = filled.tensor("gate"), &first = filled.tensor("first");
  for (std::int64_t batch = 0; batch < 3; ++batch) {
    double h = 2 * first.at(batch);
    for (std::int64_t step = 0; step < 7; ++step) {
      h = gate.at(7 * batch + step) * h + x.at(7 * batch + step);
      CHECK(filled.problem().golden(0)[static_cast<std::size_t>(7 * batch + step)] == h);
    }
    CHECK(filled.problem().golden(1)[static_cast<std::size_t>(batch)] == h);
  }
}

TEST_CASE("op files: a wrong recurrence is told") {
  const auto said = [](const std::string& line) -> std::string {
    try {
      make_op(read_text(R"json({"op": "own_scan", "inputs": {"x": "steps", "first": "1"}, "outputs": {"y": "steps", "last": "1"},
                          "formula": [")json" +
                        line + "\"]}"));
    } catch (const BadInput& e) {
      return e.what();
    }
    return "";
  };
  const std::pair<const char*, const char*> wrongs[] = {
      {"last, y = scan[steps](last = first) { y = last + x }", "no line of its step gives 'last' its next value"},
      {"last, y = scan[steps](last = first) { last = last + x }",
       "'y' before the equals sign is no state, and no line of its step gives it a value"},
      {"last, y = scan[steps](last = first) { last = last + z; y = last }", "'z' has no value there"},
      {"last, y = scan[steps](last = first) { last = last + x; last = x; y = last }", "'last' has a value already"},
      {"last, y = scan[steps](last = first) { last = last + x; x = last; y = last }", "'x' has a value already"},
      {"last, y = scan[steps](last = first)", "a scan is like 'last, y = scan[steps](last = first)"},
      {"last, y = first", "only a scan assigns more than one name"},
      {"last, y = scan[stages](last = first) { last = last + x; y = last }", "there is no axis 'stages'"},
  };
  for (const auto& [line, sentence] : wrongs) CHECK_THAT(said(line), Catch::Matchers::Contains(sentence));
}

TEST_CASE("op files: a condition says for which arguments an op is defined") {
  const OwnOp own = read_text(R"json({"op": "mine", "inputs": {"x": "rows cols"}, "outputs": {"y": "rows cols"},
    "attributes": {"groups": 2}, "legal": ["quotient(extent[cols], groups) * groups == extent[cols]"], "formula": ["y = x * groups"]})json");
  const Op op = make_op(own);
  const auto legal = [&](std::int64_t cols) {
    Case c{.op = "mine", .dims = {}, .attributes = {}};
    c.dims[Axis::rows] = 3;
    c.dims[Axis::cols] = cols;
    return test::FilledCase(op, c).problem().legal();
  };
  CHECK(legal(8));
  CHECK(legal(7).why == "needs quotient(extent[cols], groups) * groups == extent[cols]");
}
