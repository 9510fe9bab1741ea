// SPDX-License-Identifier: Apache-2.0
// What failing cases have in common: the plainest property that separates, and nothing where nothing does.
#include "validate/cases/across.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "catch_shim.hpp"

#include "validate/console/console.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

namespace {

const std::vector<OpShape>& shapes() {
  static const std::vector<OpShape> all = op_shapes();
  return all;
}

Across learnt(const std::vector<std::string>& passed, const std::vector<std::string>& failed) {
  Across across;
  const OpShape& op = *std::find_if(shapes().begin(), shapes().end(), [](const OpShape& s) { return s.name == "softmax"; });
  for (const std::string& line : passed) across.add_passed(parse_repro("softmax " + line, shapes()).what, op, "k");
  for (const std::string& line : failed) across.add_failed(parse_repro("softmax " + line, shapes()).what, op, "k", "values");
  return across;
}
std::string sentence(const std::vector<std::string>& passed, const std::vector<std::string>& failed) {
  return learnt(passed, failed).sentence("softmax", "k", "values");
}

}  // namespace

TEST_CASE("failing cases are told by what they alone have", "[command]") {
  const std::vector<std::string> passed{"f16 rows=3 cols=64", "f32 rows=5 cols=256", "f16 rows=1 cols=128 fill=ramp"};
  CHECK(sentence(passed,
                 {"f16 rows=3 cols=64 layout=padded", "f32 rows=7 cols=33 layout=padded", "bf16 rows=1 cols=8 layout=padded"}) ==
        "all 3 failing cases have layout=padded; none of the 3 passing ones do");
  CHECK(sentence(passed, {"bf16 rows=3 cols=64", "bf16 rows=5 cols=256", "bf16 rows=1 cols=33"}) ==
        "all 3 failing cases have dtype=bf16; none of the 3 passing ones do");
  CHECK(sentence(passed, {"f16 rows=2 cols=64", "f32 rows=2 cols=256", "f16 rows=2 cols=128"}) ==
        "all 3 failing cases have rows=2; none of the 3 passing ones do");
  CHECK(sentence(passed, {"f16 rows=3 cols=257", "f32 rows=5 cols=1024", "f16 rows=1 cols=512"}) ==
        "all 3 failing cases have cols >= 257; none of the 3 passing ones do");
  CHECK(sentence(passed, {"f16 rows=3 cols=65", "f32 rows=5 cols=1023", "f16 rows=1 cols=7"}) ==
        "all 3 failing cases have cols not a multiple of 2; none of the 3 passing ones do");
}

TEST_CASE("failing cases are told by powers of two, by what they are not, and by two extents", "[command]") {
  const std::vector<std::string> passed{"f16 rows=3 cols=4", "f32 rows=12 cols=256", "bf16 rows=7 cols=1", "f32 rows=4 cols=64"};
  CHECK(sentence(passed, {"f16 rows=3 cols=12", "f32 rows=12 cols=160", "bf16 rows=7 cols=3", "f32 rows=8 cols=36"}) ==
        "all 4 failing cases have cols not a power of two; none of the 4 passing ones do");
  CHECK(sentence({"f32 rows=3 cols=4", "f32 rows=4 cols=64 layout=padded", "f32 rows=9 cols=5 fill=ramp"},
                 {"f16 rows=3 cols=4", "bf16 rows=4 cols=64 layout=padded", "f16 rows=9 cols=5 fill=ramp"}) ==
        "all 3 failing cases have dtype other than f32; none of the 3 passing ones do");
  CHECK(sentence({"f16 rows=3 cols=3", "f32 rows=4 cols=4", "bf16 rows=9 cols=9", "f16 rows=8 cols=8"},
                 {"f16 rows=3 cols=4", "f32 rows=4 cols=9", "bf16 rows=9 cols=3", "f16 rows=8 cols=3"}) ==
        "all 4 failing cases have rows unlike cols; none of the 4 passing ones do");
}

TEST_CASE("half of an answer is told where chance does not explain it", "[command]") {
  std::vector<std::string> passed, failed;
  const auto line = [](const char* dtype, int k, const char* more = "") {
    return fmt::format("{} rows={} cols={}{}", dtype, 1 + k % 7, 1 + k % 11, more);
  };
  for (int k = 0; k < 30; ++k) {
    passed.push_back(line("f32", k));
    passed.push_back(line("f16", k));
    failed.push_back(line(k % 2 ? "f16" : "bf16", k));
  }
  CHECK(sentence(passed, failed) ==
        "all 30 failing cases have dtype other than f32, as do 30 of the 60 passing ones; all 15 cases with dtype=bf16 fail");
  failed.push_back(line("f32", 3));
  CHECK(sentence(passed, failed) == "all 15 cases with dtype=bf16 fail, and 16 others");
  Across two = learnt(passed, failed);
  const OpShape& op = *std::find_if(shapes().begin(), shapes().end(), [](const OpShape& s) { return s.name == "softmax"; });
  two.add_failed(parse_repro("softmax bf16 rows=1 cols=1", shapes()).what, op, "k", "a crash");
  CHECK(two.sentence("softmax", "k", "values").empty());  // a case with bf16 fails in another way
}

TEST_CASE("what most failing cases read like is told for one that reads like nothing", "[command]") {
  Across across;
  const OpShape& op = *std::find_if(shapes().begin(), shapes().end(), [](const OpShape& s) { return s.name == "softmax"; });
  const Case c = parse_repro("softmax f16 rows=3 cols=64", shapes()).what;
  for (const char* reads : {"`x` left out", "", "`x` left out; the last row", "everything times 2"})
    across.add_failed(c, op, "k", "values", reads);
  CHECK(across.reading("softmax", "k", "values") == "`x` left out (2 of 4 cases)");
  CHECK(across.reading("softmax", "k", "other").empty());
  across.add_failed(c, op, "k", "values", "everything times 3");
  across.add_failed(c, op, "k", "values", "everything times 4");
  CHECK(across.reading("softmax", "k", "values").empty());
}

TEST_CASE("nothing is said where nothing separates, or where the cases are few", "[command]") {
  const std::vector<std::string> passed{"f16 rows=3 cols=64", "f32 rows=5 cols=256", "bf16 rows=9 cols=128 layout=padded"};
  CHECK(sentence(passed, {"f16 rows=3 cols=128", "f32 rows=5 cols=64", "f16 rows=9 cols=256"}).empty());
  CHECK(sentence(passed, {"f16 rows=2 cols=64", "f16 rows=2 cols=32"}).empty());
  CHECK(sentence({"f16 rows=3 cols=64"}, {"f16 rows=2 cols=64", "f16 rows=2 cols=32", "f16 rows=2 cols=16"}).empty());
  CHECK(learnt(passed, {"f16 rows=2 cols=64"}).failed("softmax", "k", "values") == 1);
  CHECK(learnt(passed, {}).failed("softmax", "k", "values") == 0);
}

TEST_CASE("the time left is what the cases so far took", "[command]") {
  CHECK(time_left(1, 5, 100).empty());
  CHECK(time_left(10, 0, 100).empty());
  CHECK(time_left(10, 20, 100) == "about 40 s left");
  CHECK(time_left(60, 10, 100) == "about 9 min left");
}

}  // namespace assay
