// SPDX-License-Identifier: Apache-2.0
// The first part of a report: verdict, key figures, failures as on a terminal, ratios to the best other.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "catch_shim.hpp"
#include "validate/cases/case.hpp"
#include "validate/console/console.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/report/charts.hpp"
#include "validate/report/tables.hpp"
#include "validate/tasks/selection.hpp"

using namespace assay;

namespace {

std::string head(const std::string& date, const std::string& suite = "smoke", const std::string& device = "NVIDIA H200") {
  return R"({"record":"run","schema":1,"version":"0.1.0","commit":"abc","compiler":"g++","build":"Release","backend":"cuda",)"
         R"("device":")" +
         device + R"(","host":"16 cores","date":")" + date + R"(","suite":")" + suite + R"(","seed":1})";
}

std::string bench(const std::string& kernel, double us, const std::string& shape = "rows=4096 cols=4096",
                  const std::string& more = "") {
  const std::string t = std::to_string(us);
  return R"({"record":"bench","op":"softmax","kernel":")" + kernel + R"(","dtype":"f16","shape":")" + shape +
         R"(","time_us":{"median":)" + t + R"(,"p5":)" + t + R"(,"p95":)" + t + R"(,"min":)" + t + R"(,"max":)" + t +
         R"(,"samples":30},"flops":1e9,"bytes":{"formula":1e8,"unfused_formula":1.6e8},"copy_rate_bytes_per_s":4e12,)"
         R"("matrix_rate_flops_per_s":8e14,"share_of_limit":)" +
         std::to_string(25 / us) + R"(,"speedups":{},"margin_after_timing":0.5)" + more + "}";
}

std::string timing(const std::string& kernel, double us) {
  const std::string t = std::to_string(us);
  return R"({"record":"timing","source":"pytorch 2.11","op":"softmax","kernel":")" + kernel +
         R"(","dtype":"f16","shape":"rows=4096 cols=4096","what":"softmax of x","time_us":{"median":)" + t + R"(,"p5":)" + t +
         R"(,"p95":)" + t + R"(,"min":)" + t + R"(,"max":)" + t + R"(,"samples":30}})";
}

std::string judged(const std::string& verdict, int rows, const std::string& more = "") {
  return R"({"record":"case","op":"softmax","kernel":"naive","dtype":"f16","verdict":")" + verdict +
         R"(","margin":0.5,"max_abs_error":1e-4,"repro":"softmax/naive f16 rows=)" + std::to_string(rows) +
         R"( cols=129 fill=ramp layout=padded seed=7")" + more + "}";
}

struct Reported {
  std::filesystem::path folder;
  Report report;
  explicit Reported(const std::vector<std::vector<std::string>>& files) {
    char name[] = "/tmp/assay-page-XXXXXX";
    folder = ::mkdtemp(name);
    std::vector<std::string> paths;
    for (const auto& lines : files) {
      paths.push_back(folder / (std::to_string(paths.size()) + ".jsonl"));
      std::ofstream out(paths.back());
      for (const std::string& line : lines) out << line << "\n";
    }
    report = report_of(paths);
  }
  Reported(const Reported&) = delete;
  ~Reported() { std::filesystem::remove_all(folder); }
};

std::string fact(const ReportFailure& f, const std::string& name) {
  for (const auto& [key, text] : f.facts)
    if (key == name) return text;
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kDay1 = "2026-11-20T00:00:00Z", kDay2 = "2026-11-21T00:00:00Z";

}  // namespace

TEST_CASE("report: a failure has the facts that a terminal shows, and lists others of its kind", "[report]") {
  const auto failed = [](int rows) {
    return judged(
        "failed", rows,
        R"j(,"reason":"err/bound )j" + std::to_string(10 + rows) +
            R"j(","wrong":2,"worst":{"tensor":"y","index":[3,7],"got":1.5,"golden":0.5,"bound":1e-3,"tile":)j"
            R"j("first of row tile 1 (rows 0..3)"},"pattern":"2 of 9 wrong: <col> 7","reads_like":"an index off by one")j");
  };
  const std::string shrunk =
      R"({"record":"shrunk","of":"softmax/naive f16 rows=64 cols=129 fill=ramp layout=padded seed=7","label":"deterministic",)"
      R"("same_seed":{"run":2,"failed":2},"other_seeds":{"run":2,"failed":1},"smallest":{"repro":"softmax/naive f16 rows=4 cols=129 )"
      R"(fill=ramp seed=7","verdict":"failed","reason":"err/bound 9"},"tried":4,"seconds":0.1})";
  const Reported r(
      {{head(kDay1), failed(8), failed(64), judged("passed", 3), shrunk, judged("crashed", 5, R"(,"reason":"a signal: 11")")}});
  CHECK_FALSE(r.report.ok());
  CHECK(r.report.failed == 3);
  REQUIRE(r.report.failures.size() == 2);
  const ReportFailure& f = r.report.failures[0];
  CHECK((f.verdict == "failed" && f.what == "softmax/naive f16" && f.reason == "err/bound 74"));
  CHECK(fact(f, "where") == "y[row 3, col 7]      first of row tile 1 (rows 0..3)");
  CHECK(fact(f, "got") == "1.5");
  CHECK(fact(f, "golden") == "0.5      bound ±0.001");
  CHECK(fact(f, "pattern") == "2 of 9 wrong: <col> 7");
  CHECK(fact(f, "smallest") == "rows=4 cols=129 fill=ramp   (shrunk from rows=64 layout=padded)");
  CHECK(fact(f, "reads like") == "an index off by one");
  CHECK(fact(f, "label") == "deterministic: fails again with its seed (2 of 2) and with others (1 of 2)");
  CHECK(fact(f, "again") == "validate replay 'softmax/naive f16 rows=4 cols=129 fill=ramp seed=7'");
  CHECK(fact(f, "found as") == "validate replay 'softmax/naive f16 rows=64 cols=129 fill=ramp layout=padded seed=7'");
  CHECK(f.alike ==
        std::vector<std::string>{"validate replay 'softmax/naive f16 rows=8 cols=129 fill=ramp layout=padded seed=7'"});
  CHECK((r.report.failures[1].verdict == "crashed" && fact(r.report.failures[1], "where").empty()));
  const std::string html = to_html(r.report), markdown = to_report_markdown(r.report);
  for (const auto& [name, text] : f.facts) CHECK(has(markdown, text));
  CHECK(has(html, "<dt>golden<dd>0.5      bound ±0.001"));
  CHECK(has(html, "<dt>pattern<dd>2 of 9 wrong: &lt;col&gt; 7"));
  CHECK(has(html, "1 more fails alike"));
  CHECK(has(html, "3, of 2 kinds"));
  CHECK(has(html, "<b>FAILED</b>"));
}

TEST_CASE("report: the lines of a failure equal those of the console", "[report]") {
  const std::vector<OpShape> shapes = op_shapes();
  const auto record = [&](const std::string& repro) {
    Record r;
    r.c = parse_repro(repro, shapes).what;
    r.kernel = "naive";
    r.backend = "simt";
    r.repro = repro;
    r.verdict = Verdict::failed;
    r.reason = "err/bound 12.5";
    r.pattern = "2 of 9 wrong: col 7";
    r.reads_like = "an index off by one";
    r.compared = 9;
    r.wrong = 2;
    r.margin = 12.5;
    r.worst = Record::Worst{"y", {3, 7}, -1.0 / 3, 0.1, 1.23456e-4, "first of row tile 1 (rows 0..3)"};
    return r;
  };
  const Record r = record("softmax/naive f16 rows=64 cols=129 fill=ramp layout=padded seed=7");
  const Record crashed = [&] {
    Record c = record("softmax/naive f32 rows=3 cols=129 seed=7");
    c.verdict = Verdict::crashed;
    c.reason = "signal 11";
    c.wrong = 0;
    c.pattern = c.reads_like = "";
    return c;
  }();
  Shrunk s;
  s.of = r.repro;
  s.label = "deterministic";
  s.same_seed = {2, 2};
  s.other_seeds = {2, 1};
  s.smallest = record("softmax/naive f16 rows=4 cols=129 fill=ramp seed=7");
  const Reported reported(
      {{to_json(RunHead{.backend = "simt", .date = kDay1, .judges = {{"softmax", std::string(judge_hash("softmax"))}}}),
        to_json(r), to_json(s), to_json(crashed)}});
  REQUIRE(reported.report.failures.size() == 2);
  for (const auto& [failure, text] :
       {std::pair{reported.report.failures[0], failure_text(r, &s)}, {reported.report.failures[1], failure_text(crashed)}}) {
    const std::string name_here = replay_text("").substr(0, replay_text("").find(' '));
    std::string lines;
    for (const auto& [name, value] : failure.facts) lines += fmt::format("  {:<10} {}\n", name, value);
    std::string shown;
    for (std::size_t at = text.find("\n\n") + 2; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      if (end - at > 1) shown += text.substr(at, end - at);
      at = end;
    }
    for (std::size_t at = 0; (at = shown.find(name_here + " replay", at)) != std::string::npos; ++at)
      shown.replace(at, name_here.size(), "validate");
    CHECK(lines == shown);
  }
}

TEST_CASE("report: a failure says what sets the failing cases apart", "[report]") {
  std::vector<std::string> lines{head(kDay1)};
  for (const int rows : {3, 4, 5}) {
    lines.push_back(judged("failed", rows, R"(,"reason":"err/bound 7")"));
    lines.push_back(judged("passed", rows));
    lines.back().replace(lines.back().find(" layout=padded"), 14, "");
  }
  const Reported r({lines});
  REQUIRE(r.report.failures.size() == 1);
  CHECK(fact(r.report.failures[0], "across") == "all 3 failing cases have layout=padded; none of the 3 passing ones do");
  CHECK(r.report.failures[0].alike.size() == 2);
}

TEST_CASE("report: a run that was cut short is called incomplete", "[report]") {
  const auto line = [](const std::vector<std::string>& more) {
    std::vector<std::string> lines{head(kDay1), judged("passed", 3)};
    lines.insert(lines.end(), more.begin(), more.end());
    const Reported r({lines});
    return r.report.line.substr(0, r.report.line.find('\'')) + r.report.line.substr(r.report.line.rfind('\'') + 1);
  };
  CHECK(line({}) == "INCOMPLETE: : the file ends before its run did · 1 passed · 0 failed · 0 suspect");
  CHECK(line({R"({"record":"end","interrupted":true})"}) ==
        "INCOMPLETE: : the run was interrupted · 1 passed · 0 failed · 0 suspect");
  CHECK(line({R"({"record":"end","incomplete":2,"interrupted":false})"}) ==
        "INCOMPLETE: : 2 cases were not judged · 1 passed · 0 failed · 0 suspect");
  CHECK(line({R"({"record":"end","missing":["shard 2/3","shard 3/3"]})"}) ==
        "INCOMPLETE: : missing: shard 2/3, shard 3/3 · 1 passed · 0 failed · 0 suspect");
  // A file with an end, of a run that was to judge more: lines were lost.
  std::string planned = head(kDay1);
  planned.insert(1, R"("cases":3,)");
  const Reported lost({{planned, judged("passed", 3), R"({"record":"end","incomplete":0,"interrupted":false})"}});
  CHECK(lost.report.files[0].incomplete == "2 of 3 cases are missing");
  const Reported none({{planned}});
  CHECK(none.report.files[0].incomplete == "the file ends before its run did");
  const Reported whole({{head(kDay1), judged("passed", 3), R"({"record":"end","incomplete":0,"interrupted":false})"}});
  CHECK(whole.report.line == "1 passed · 0 failed · 0 suspect");
}

TEST_CASE("report: a planted fault that no bound rejects fails the report, as it fails the run", "[report]") {
  const auto fault = [](const char* verdict) {
    return std::string(
               R"({"record":"power","op":"softmax","kernel":"naive","dtype":"f16","fault":"output","tried":5,"verdict":")") +
           verdict + "\"}";
  };
  const Reported r({{head(kDay1), judged("passed", 3), fault("suspect"), R"({"record":"end","interrupted":false})"}});
  CHECK(r.report.line == "FAILED · 1 passed · 0 failed · 1 suspect");
  REQUIRE(r.report.failures.size() == 1);
  CHECK(r.report.failures[0].reason == "no bound of 5 cases would have rejected a fault: output");
  const Reported later({{head(kDay1), judged("passed", 3), fault("suspect")}, {head(kDay2), fault("passed")}});
  CHECK(later.report.ok());
  CHECK(later.report.faults_rejected == 1);
}

TEST_CASE("report: ours is compared with the fastest other on each shape", "[report]") {
  const std::string small = "rows=8 cols=8";
  const Reported r(
      {{head(kDay1), bench("naive", 100), bench("block_row", 30), bench("unfused", 20), bench("baseline_cudnn", 60),
        bench("block_row", 4, small), bench("baseline_cudnn", 2, small), bench("naive", 5, "rows=1 cols=1")},
       {head(kDay2, "bench"), timing("pytorch_eager_graph", 90), timing("pytorch_compile", 45), timing("pytorch_eager", 95)},
       {head(kDay2, "calibration"), bench("block_row", 300, small, R"(,"planted":10)")},
       {head(kDay2, "smoke", "NVIDIA T4"), bench("block_row", 1), timing("pytorch_compile", 7)}});
  REQUIRE(r.report.ranked.size() == 3);
  const auto of = [&](const std::string& device, const std::string& shape) {
    for (const RankedRow& s : r.report.ranked)
      if (s.file->device == device && s.ours->shape == shape) return s;
    return RankedRow{};
  };
  const RankedRow here = of("NVIDIA H200", "rows=4096 cols=4096");
  REQUIRE(here.ours);
  CHECK((here.ours->kernel == "block_row" && here.others.size() == 4 && std::abs(here.limit_us - 25) < 1e-3));
  CHECK((here.best().kernel == "pytorch_compile" && here.best().ratio == 1.5 && library_of(here.best()) == "compile"));
  CHECK(of("NVIDIA H200", small).best().ratio == 0.5);  // rows with a planted slowdown do not count
  CHECK(of("NVIDIA T4", "rows=4096 cols=4096").best().ratio == 7);
  for (const ReportRow& row : r.report.rows) CHECK(row.row->planted == 0);

  const std::vector<OpStanding> ops = by_op(r.report);
  REQUIRE(ops.size() == 1);
  CHECK((ops[0].op == "softmax" && ops[0].shapes == 3 && ops[0].faster == 2 && ops[0].least == 0.5 && ops[0].most == 7));
  CHECK(std::abs(ops[0].mean - std::cbrt(1.5 * 0.5 * 7)) < 1e-9);
  CHECK(ops[0].other == "compile");
  const std::string markdown = to_report_markdown(r.report);
  CHECK(has(markdown, "| softmax | 3 | 2 | 1.74× | 0.50× | 7.00× | compile |"));
  const auto sizes = charts_of(r.report).at("sizes");
  CHECK(sizes.size() == 5);  // the faster eager, compile, cuDNN; cuDNN on the small shape; compile on the T4
}

TEST_CASE("report: at most four key figures, from what the files have", "[report]") {
  const auto labels = [](const Report& report) {
    std::vector<std::string> all;
    for (const Figure& f : figures_of(report)) all.push_back(f.label + ": " + f.value);
    return all;
  };
  const Reported timed({{head(kDay1), bench("block_row", 50), bench("baseline_cudnn", 60)}});
  CHECK(labels(timed.report) == std::vector<std::string>{"largest err/bound: 0.5", "the best other's time over ours: 1.20×",
                                                         "of the measured ceiling: 50 %", "rows timed: 2"});
  const Reported judged_only({{head(kDay1), judged("passed", 1), judged("unsupported", 2)}});
  CHECK(labels(judged_only.report) == std::vector<std::string>{"cases passed: 1", "largest err/bound: 0.5", "ops: 1"});
  const Reported both(
      {{head(kDay1), judged("passed", 1), judged("failed", 2), bench("block_row", 50), bench("baseline_cudnn", 60)}});
  CHECK(labels(both.report)[0] == "of 2 cases passed: 1");
  CHECK(figures_of(both.report).size() == 4);
  CHECK(figures_of(both.report)[0].bad);
}

TEST_CASE("report: a time is compared only with the previous run of the same suite and device", "[report]") {
  const auto before = [](const std::string& suite, const std::string& device) {
    const Reported r({{head(kDay1), bench("block_row", 40)}, {head(kDay2, suite, device), bench("block_row", 50)}});
    return std::pair{r.report.rows.at(0).before != nullptr, charts_of(r.report).at("changes").size()};
  };
  CHECK(before("smoke", "NVIDIA H200") == std::pair{true, std::size_t{1}});
  CHECK(before("hopper", "NVIDIA H200") == std::pair{false, std::size_t{0}});
  CHECK(before("smoke", "NVIDIA T4") == std::pair{false, std::size_t{0}});
}
