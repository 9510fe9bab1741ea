// SPDX-License-Identifier: Apache-2.0
// What a terminal shows of a run: the case that shows a fault most clearly, what it is for, what was not taken and why.
#include "validate/console/console.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch_shim.hpp"
#include "validate/console/declines.hpp"
#include "validate/tasks/selection.hpp"

using namespace assay;

namespace {

Record failed(const std::string& line, double margin) {
  static const std::vector<OpShape> shapes = op_shapes();
  Record r;
  r.kernel = "mine";
  r.backend = "simt";
  r.repro = "softmax/mine " + line;
  r.c = parse_repro(r.repro, shapes).what;
  r.verdict = Verdict::failed;
  r.reason = fmt::format("err/bound = {:.3g}", margin);
  r.margin = margin;
  r.compared = elements(r.c, op_named("softmax").shape());
  r.wrong = 2;
  return r;
}

Record declined(const std::string& line, const std::string& kernel, const std::string& why) {
  Record r = failed(line, 0);
  r.kernel = kernel;
  r.verdict = why.empty() ? Verdict::passed : Verdict::unsupported;
  r.reason = why;
  return r;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("console: of failing cases the most certain is shown, then the plainest, then the smallest", "[command]") {
  CHECK(clearer(failed("f16 rows=9 cols=64 layout=padded seed=1", 50), failed("f16 rows=5 cols=4 layout=far seed=1", 50)));
  CHECK(clearer(failed("f16 rows=9 cols=64 seed=1", 50), failed("f16 rows=1 cols=1 seed=1", 50)));  // which makes no pattern
  const Record plain = failed("f16 rows=9 cols=64 seed=1", 50), small = failed("f16 rows=3 cols=8 layout=mixed seed=1", 900);
  CHECK(clearer(plain, small));
  CHECK_FALSE(clearer(small, plain));
  CHECK(clearer(failed("f16 rows=9 cols=64 seed=1", 50), failed("f16 rows=9 cols=64 fill=ramp seed=1", 900)));
  CHECK(clearer(failed("f16 rows=3 cols=64 seed=1", 50), failed("f16 rows=9 cols=64 seed=1", 900)));
  CHECK(clearer(small, failed("f16 rows=9 cols=64 seed=1", 1.5)));  // a rounding that was forgotten may do this
}

TEST_CASE("console: a failure says what its case is for, and what the kernel might declare", "[command]") {
  const Record r = failed("f16 rows=5 cols=40 layout=far fill=rising seed=1", 50);
  Shrunk shrunk{.of = r.repro};
  CHECK(has(failure_text(r, &shrunk),
            "  its case   layout=far shows an offset, an index or a stride kept in 32 bits; fill=rising shows "));
  CHECK_FALSE(has(failure_text(r), "its case"));  // nothing says whether a plainer case fails too
  shrunk.smallest = failed("f16 rows=5 cols=4 seed=1", 50);
  CHECK_FALSE(has(failure_text(r, &shrunk), "its case"));
  CHECK(has(failure_text(r, &shrunk, "", "if it declared `rescales=1`"), "  would pass if it declared `rescales=1`\n"));
}

TEST_CASE("console: every reason to decline a case is told once, with its number", "[command]") {
  Declines all;
  for (int k = 0; k < 6; ++k) all.add(declined("f16 rows=9 cols=64 seed=1", "takes_most", k < 2 ? "declares finite inputs" : ""));
  all.add(declined("f32 rows=9 cols=64 seed=1", "takes_most", "declares no f32"));
  REQUIRE(all.lines().size() == 1);
  CHECK(all.lines()[0] == "3 unsupported as declared: 2 'declares finite inputs', 1 'declares no f32'");
  CHECK_FALSE(all.any());
  for (int k = 0; k < 4; ++k) all.add(declined("f16 rows=9 cols=64 seed=1", "takes_few", k < 3 ? "rows must be even" : ""));
  REQUIRE(all.lines().size() == 2);
  CHECK(all.lines()[0] == "NOT TAKEN  softmax/takes_few takes 1 of 4 cases (25 %); not: 3 'rows must be even'");
  CHECK(all.lines()[1] == "3 unsupported as declared, besides these: 2 'declares finite inputs', 1 'declares no f32'");
  for (const char* kernel : {"a", "b", "c", "d"}) all.add(declined("f16 rows=9 cols=64 seed=1", kernel, "rows must be even"));
  REQUIRE(all.lines().size() == 2);
  CHECK(all.lines()[1] == "10 unsupported as declared: 7 'rows must be even', 2 'declares finite inputs', 1 'declares no f32'");
  CHECK(all.any());
}

TEST_CASE("console: a word that explains every wrong case is told, and no other", "[command]") {
  Habits habits;
  habits.add("gelu", "mine", {"cancelling_gelu", "accumulate=f16"});
  CHECK(has(habits.sentence("gelu", "mine"), "if it declared `cancelling_gelu`: GELU is computed as x/2 (1 + tanh)"));
  habits.add("gelu", "mine", {"accumulate=f16"});
  CHECK(has(habits.sentence("gelu", "mine"), "if it declared `accumulate=f16`, as would all 2 cases with wrong values: Sums"));
  habits.add("gelu", "mine", {});
  CHECK(habits.sentence("gelu", "mine").empty());
  CHECK(habits.sentence("gelu", "other").empty());
  for (const std::string& word : assay::habits(*find_op("layernorm_linear"))) {
    REQUIRE(with_habit({}, word));
    CHECK(*with_habit({}, word) != Numerics{});
    CHECK_FALSE(with_habit(*with_habit({}, word), word));
  }
}
