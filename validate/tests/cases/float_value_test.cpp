// SPDX-License-Identifier: Apache-2.0
// A number that kernels would take for 0 or infinity, as floats, is refused of every op wherever it is typed.
#include "validate/cases/float_value.hpp"

#include <limits>
#include <string>

#include "catch_shim.hpp"
#include "judge/given_fixture.hpp"
#include "validate/cases/bench_file.hpp"
#include "validate/cases/datasets.hpp"

namespace assay {
namespace {

using test::holds, test::why_not;

constexpr double kLeast = 0x1p-149;  // of the floats above zero

TEST_CASE("float value: zero, and what rounds to a float that is not zero, is one") {
  for (const double v : {0.0, -0.0, 1.0, -1e-38, kLeast, 0x1.8p-150, static_cast<double>(std::numeric_limits<float>::max())})
    CHECK(no_float(v) == "");
  CHECK(no_float(0x1p-150) == "too small for a float, with which kernels compute");  // a tie, which goes to 0
  CHECK(no_float(-1e-300) == "too small for a float, with which kernels compute");
  CHECK(no_float(1e39) == "too large for a float, with which kernels compute");
  CHECK(no_float(HUGE_VAL) == "not finite");
  CHECK(no_float(std::nan("")) == "not finite");
}

TEST_CASE("float value: every attribute of every op is refused where it is typed") {
  int attributes = 0;
  for (const Op& op : ops()) {
    std::string line = std::string(op.name) + " f32";
    for (const AxisUse& use : op.axes) line += " " + std::string(use.axis.name) + "=4";
    const TensorFile file = test::filled(line);
    for (const Attribute& a : op.attributes) {
      if (!a.choices.empty()) continue;
      ++attributes;
      const std::string key(a.name);
      CAPTURE(op.name, key);
      for (const auto& [value, why] : {std::pair{"1e-300", "too small"},
                                       {"-1e-46", "too small"},
                                       {"1e39", "too large"},
                                       {"-1e300", "too large"},
                                       {"inf", "not finite"},
                                       {"nan", "not finite"}}) {
        const std::string pair = key + "=" + value, sentence = pair + ": " + why;
        CHECK(holds(why_not([&] { parse_repro(line + " " + pair, op_shapes()); }), sentence));
        TensorFile unsaid = file;
        unsaid.metadata = {{kOpKey, std::string(op.name)}};
        CHECK(holds(why_not([&] { given_case(unsaid, {"", {pair}}); }), sentence));
        unsaid.metadata[key] = value;
        CHECK(holds(why_not([&] { given_case(unsaid, {}); }), sentence));
      }
    }
  }
  CHECK(attributes >= 10);
}

TEST_CASE("float value: a dataset's numbers are refused too") {
  const auto model = [](const std::string& epsilon) {
    return R"({"name": "m", "source": "s", "hidden": 8, "ffn": 8, "heads": 1, "kv_heads": 1, "head_dim": 8, "activation": "swiglu",
               "norm": {"kind": "rmsnorm", "epsilon": )" +
           epsilon + R"(}, "tokens": [1]})";
  };
  CHECK(why_not([&] { parse_model(model("1e-6"), "m", "m.json"); }) == "it was taken");
  CHECK(holds(why_not([&] { parse_model(model("1e-60"), "m", "m.json"); }), "m.json: /norm/epsilon: 1e-60 is too small"));
  CHECK(holds(why_not([&] { parse_model(model("1e60"), "m", "m.json"); }), "m.json: /norm/epsilon: 1e+60 is too large"));
  const Op& op = op_named("rmsnorm");
  const auto group = [&](const std::string& epsilon) {
    const std::string text = R"({"groups": [{"suites": ["edges"], "rows": [1], "cols": [1], "fill": ["normal"], "layout":
                                 ["contiguous"], "dtype": ["f32"], "epsilon": [)" +
                             epsilon + "]}]}";
    check(parse_edges(text, "rmsnorm", "rmsnorm.json"), op.shape());
  };
  CHECK(why_not([&] { group("0, 1e-5"); }) == "it was taken");
  CHECK(holds(why_not([&] { group("1e-300"); }), "1e-300 is too small for a float"));
}

TEST_CASE("bench files: what they say beside their rows is not left out") {
  const auto said = [](const std::string& more) {
    return why_not([&] { parse_bench(R"({"shapes": ["rows=1"])" + more + "}", "softmax.json"); });
  };
  CHECK(said(R"(, "about": "a", "op": "softmax", "ladder": ["naive"])") == "it was taken");
  CHECK(holds(said(R"(, "lader": ["naive"])"), "softmax.json: unknown key 'lader'. Did you mean 'ladder'?"));
  CHECK(holds(said(R"(, "ladder": [])"), "softmax.json: 'ladder' must be a list of texts"));
  CHECK(holds(said(R"(, "op": 1)"), "softmax.json: 'op' must be a text"));
  const auto checked = [](const std::string& more) {
    return why_not([&] { check(parse_bench(R"({"shapes": ["rows=1"])" + more + "}", "f"), "softmax", {"naive"}, "f"); });
  };
  CHECK(checked(R"(, "op": "softmax", "ladder": ["naive"])") == "it was taken");
  CHECK(holds(checked(R"(, "op": "rope")"), "f: 'op' is 'rope', and 'softmax' was expected"));
  CHECK(holds(checked(R"(, "ladder": ["nave"])"), "f: unknown kernel of softmax 'nave'. Did you mean 'naive'?"));
}

}  // namespace
}  // namespace assay
