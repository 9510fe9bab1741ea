// SPDX-License-Identifier: Apache-2.0
// `compare` on records: what is a regression, and what is inconclusive and why.
#include "validate/records/regression.hpp"

#include <limits>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"

using namespace assay;

namespace {

TimedRow timed(const std::string& kernel, double us, std::size_t processes = 6, std::size_t launches = 30) {
  TimedRow r;
  r.op = "softmax";
  r.kernel = kernel;
  r.dtype = "f16";
  r.shape = "rows=16 cols=4096";
  r.margin = 0.4;
  r.code = "00ff00ff00ff00ff";
  for (std::size_t p = 0; p < processes; ++p) {
    r.samples.emplace_back();
    for (std::size_t i = 0; i < launches; ++i)
      r.samples.back().push_back(us * (1 + 0.0005 * static_cast<double>((7 * i + 3 * p) % 11)));
  }
  if (processes) r.time_us = summary_of(r.samples);
  else r.time_us.p50 = us;
  return r;
}

JudgedCase judged(const std::string& verdict, double margin, const std::string& repro = "softmax/naive f16 rows=3 cols=4") {
  return {.op = "softmax",
          .kernel = "naive",
          .dtype = "f16",
          .verdict = verdict,
          .repro = repro,
          .margin = margin,
          .deterministic = true};
}

RecordFile file(std::vector<TimedRow> rows, std::vector<JudgedCase> cases = {}) {
  RecordFile f;
  f.path = "file.jsonl";
  f.device = "a card";
  f.rows = std::move(rows);
  f.cases = std::move(cases);
  return f;
}

Difference of(const RecordFile& base, const RecordFile& now) { return difference(base, now, {}); }

}  // namespace

TEST_CASE("compare: FASTER, SLOWER, SAME and INCONCLUSIVE, worst first") {
  const RecordFile base =
      file({timed("a", 100), timed("b", 100), timed("c", 100), timed("d", 100), timed("e", 100, 5), timed("f", 100)});
  RecordFile now =
      file({timed("a", 100), timed("b", 110), timed("c", 90), timed("d", 120), timed("e", 150), timed("f", 300, 6, 29)});
  now.rows[3].code = "0123456789abcdef";
  const Difference d = of(base, now);
  REQUIRE(d.times.size() == 6);
  CHECK(d.times[0].now->kernel == "d");
  CHECK(d.times[0].binary() == "binary changed");
  CHECK(d.times[0].ratio == Approx(1.2));
  CHECK(d.times[1].now->kernel == "b");
  CHECK(d.times[1].binary() == "binary unchanged");
  CHECK(d.times[2].change == Change::faster);
  CHECK(d.count(Change::slower) == 2);
  CHECK(d.count(Change::same) == 1);
  CHECK(d.count(Change::inconclusive) == 2);  // too few processes, too few launches
  CHECK(d.times[4].why.find("needs 6 of 30") != std::string::npos);
  CHECK_FALSE(d.gate_holds());
  CHECK(of(base, base).gate_holds());
}

TEST_CASE("compare: times of different devices, or without samples, are INCONCLUSIVE") {
  RecordFile base = file({timed("a", 100)}), now = file({timed("a", 200)});
  now.device = "another card";
  CHECK(of(base, now).count(Change::inconclusive) == 1);
  CHECK(of(base, now).times[0].why == "timed on a card and on another card");
  CHECK(of(file({timed("a", 100, 0)}), base).times[0].why == "no samples were kept");
}

TEST_CASE("compare: a regression of correctness alone fails the gate") {
  const RecordFile base = file({}, {judged("passed", 0.4)});
  CHECK(of(base, file({}, {judged("passed", 0.6)})).regressions.empty());
  const auto regressed = [&](const JudgedCase& is) {
    const Difference d = of(base, file({}, {is}));
    CHECK_FALSE(d.gate_holds());
    return d.regressions.size() == 1 ? d.regressions[0] : std::string("none or many");
  };
  CHECK(regressed(judged("failed", 41)).starts_with("passed, is failed now"));
  CHECK(regressed(judged("unsupported", 0.4)).starts_with("passed, is unsupported now"));
  CHECK(regressed(judged("passed", 0.61)).starts_with("worst err/bound 0.4 -> 0.61"));
  CHECK(regressed(judged("passed", std::numeric_limits<double>::quiet_NaN())).starts_with("worst err/bound"));
  JudgedCase unsteady = judged("passed", 0.4);
  unsteady.deterministic = false;
  CHECK(regressed(unsteady).find("same bits") != std::string::npos);
  // A case that failed before is not a regression.
  CHECK(of(file({}, {judged("failed", 41)}), file({}, {judged("failed", 50)})).regressions.empty());
}

TEST_CASE("compare: a pass that says less than before fails the gate") {
  JudgedCase was = judged("passed", 0.4), is = was;
  was.numerics = is.numerics = "accumulate=f32 chain=1";
  was.not_checked = is.not_checked = {"races"};
  RecordFile base = file({}, {was}), now = file({}, {is});
  base.backend = now.backend = "host";
  base.sandbox = now.sandbox = "landlock 7, seccomp";
  const auto only = [&](const RecordFile& changed) {
    const Difference d = of(base, changed);
    CHECK(d.gate_holds() == d.regressions.empty());
    return d.regressions.size() == 1 ? d.regressions[0] : std::string();
  };
  CHECK(of(base, now).regressions.empty());
  RecordFile other = now;
  other.cases[0].numerics = "accumulate=f16 chain=1";
  other.cases.push_back(other.cases[0]);
  CHECK(only(other) == "declares other numerics, 'accumulate=f32 chain=1' -> 'accumulate=f16 chain=1': softmax/naive");
  other = now;
  other.cases[0].not_checked = {"races", "traffic"};
  CHECK(only(other) == "is no longer checked, traffic: softmax/naive");
  other = now;
  other.cases[0].not_checked = {};
  CHECK(of(base, other).regressions.empty());
  other = now;
  other.backend = "simt";
  CHECK(only(other) == "was judged on host, is judged on simt now");
  other = now;
  other.sandbox = "off: --no-sandbox";
  CHECK(only(other) == "was judged in a sandbox (landlock 7, seccomp), is not now");
  CHECK(of(other, now).regressions.empty());
}

TEST_CASE("compare: says whether the kernel or the judge changed") {
  RecordFile base = file({}, {judged("passed", 0.4)}), now = file({}, {judged("failed", 41)});
  const auto told = [&](const std::string& code, const std::string& judge) {
    now.kernels = {{"softmax/naive", code}};
    now.judges = {{"softmax", judge}};
    const Difference d = of(base, now);
    CHECK((d.judges_changed == std::vector<std::string>{"softmax"}) == (judge == "other"));
    return d.regressions.at(0);
  };
  CHECK(told("code", "judge") == "passed, is failed now: softmax/naive f16 rows=3 cols=4");  // unknown in the base
  base.kernels = {{"softmax/naive", "code"}};
  base.judges = {{"softmax", "judge"}};
  CHECK(told("code", "judge").find("(binary unchanged)") != std::string::npos);
  CHECK(told("new", "judge").find("(binary changed)") != std::string::npos);
  CHECK(told("code", "other").find("(the judge changed, not the kernel)") != std::string::npos);
  CHECK(told("new", "other").find("(kernel and judge changed)") != std::string::npos);
  now.cases.push_back(judged("passed", 0.4, "softmax/naive f16 rows=4 cols=4"));
  base.suites = "one";
  now.suites = "two";
  CHECK(of(base, now).suites_changed);
}

TEST_CASE("compare: a kernel's margin is its worst over the cases of both files") {
  const RecordFile base = file({}, {judged("passed", 0.8, "one"), judged("passed", 0.1, "two")});
  CHECK(of(base, file({}, {judged("passed", 0.8, "one"), judged("passed", 0.7, "two")})).regressions.empty());
  CHECK(of(base, file({}, {judged("passed", 0.7, "two")})).regressions.size() == 1);
}

TEST_CASE("compare: a larger margin after timing and a row that is left out are regressions") {
  RecordFile base = file({timed("a", 100)}), now = base;
  now.rows[0].margin = 0.61;
  CHECK(of(base, now).regressions.size() == 1);
  now = file({timed("b", 1)});
  base.rows.push_back(timed("b", 1));
  now.left_out.push_back({"softmax", "a", "f16", "rows=16 cols=4096", "60 times the fastest"});
  const Difference d = of(base, now);
  REQUIRE(d.regressions.size() == 1);
  CHECK(d.regressions[0].starts_with("was timed, is left out now"));
  CHECK(d.only_in_base == 1);
  CHECK_THROWS_AS(of(file({timed("x", 1)}), file({timed("y", 1)})), BadInput);
}

TEST_CASE("compare: a calibration of equal processes has no false alarm and needs four processes") {
  const Calibration quiet = calibrate(file({timed("a", 100, 12), timed("b", 30, 12)}), {});
  CHECK(quiet.processes == 6);
  CHECK(quiet.changes[static_cast<int>(Change::same)] == quiet.rows * quiet.splits);
  CHECK(quiet.false_alarm_rate() == 0);
  CHECK_THROWS_AS(calibrate(file({timed("a", 100, 3)}), {}), BadInput);
  CHECK_THROWS_AS(calibrate(file({}), {}), BadInput);
}
