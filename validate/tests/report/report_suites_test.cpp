// SPDX-License-Identifier: Apache-2.0
// A report's published tables, ablations, traffic and resources, from records written by hand.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "catch_shim.hpp"
#include "schema_checker.hpp"
#include "validate/base/error.hpp"
#include "validate/report/report.hpp"

using namespace assay;

namespace {

const std::string kHead =
    R"({"record":"run","schema":1,"version":"0.1.0","commit":"abc","compiler":"g++","build":"Release","backend":"cuda",)"
    R"("device":"NVIDIA H200","host":"16 cores","date":"2026-11-22T00:00:00Z","suite":"","seed":1})";

// 100 MB fused and 160 MB unfused at 4 TB/s: the limit is 25 us, and fusion gives at most 1.6.
std::string bench(const std::string& kernel, double us, const std::string& more, const std::string& margin = "0.5") {
  const std::string t = std::to_string(us);
  return R"({"record":"bench","op":"layernorm_residual","kernel":")" + kernel +
         R"(","backend":"cuda","dtype":"f16","shape":"rows=4096 cols=4096","time_us":{"median":)" + t + R"(,"p5":)" + t +
         R"(,"p95":)" + t + R"(,"min":)" + t + R"(,"max":)" + t +
         R"(,"samples":30},"flops":1e9,"bytes":{"formula":1e8,"unfused_formula":1.6e8},)" +
         R"("copy_rate_bytes_per_s":4e12,"matrix_rate_flops_per_s":8e14,"limit":"copy","share_of_limit":)" +
         std::to_string(25 / us) + R"(,"speedups":{},"speedup_intervals":{"unfused":[1.4,1.5]},"margin_after_timing":)" + margin +
         more + "}";
}

const std::string kPlace = R"(,"suite":{"name":"ln-residual","table":"Latency","label":"Prefill",)"
                           R"("reported":{"eager_us":120,"ours_us":60,"speedup":"1.7-2.0x"}})";

std::string timing(const std::string& kernel, const std::string& time) {
  return R"({"record":"timing","source":"pytorch 2.11","op":"layernorm_residual","kernel":")" + kernel +
         R"(","backend":"cuda","dtype":"f16","shape":"rows=4096 cols=4096","what":"F.layer_norm(x) + r",)" + time + "}";
}

struct Folder {
  std::filesystem::path path;
  Folder() {
    char name[] = "/tmp/assay-report-XXXXXX";
    path = ::mkdtemp(name);
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

struct Files {
  Folder folder;
  Report report;

  explicit Files(const std::vector<std::vector<std::string>>& files) {
    for (const auto& lines : files) {
      const auto path = folder.path / (std::to_string(report.files.size()) + ".jsonl");
      std::ofstream out(path);
      for (const std::string& line : lines) out << line << "\n";
      out.close();
      report.files.push_back(read_records(path));
    }
    add_suites(report);
    add_counts(report);
  }
};

const std::vector<std::string> kBenchFile{
    kHead,
    bench("naive", 100, kPlace + R"(,"step":0)"),
    bench("warp_row", 40, kPlace + R"(,"step":1)"),
    bench("block_row", 30,
          kPlace + R"(,"step":2,"dram":{"read_bytes":7e7,"written_bytes":3.2e7},"resources":[{"function":"rows",)"
                   R"("registers":64,"local_bytes":8,"blocks":132,"occupancy":0.5}])"),
    bench("too_good", 10, kPlace, "\"inf\""),
    bench("unfused", 44, kPlace + R"(,"dram":{"read_bytes":1e8,"written_bytes":6.5e7})"),
    bench("baseline_cudnn", 60, kPlace),
};

}  // namespace

TEST_CASE("report: a line of a published table has the fastest right kernel, its contenders and what fusion can give",
          "[report]") {
  const Files f({kBenchFile,
                 {kHead, timing("pytorch_eager", R"("time_us":{"median":90,"p5":89,"p95":91,"min":88,"max":92,"samples":30})"),
                  timing("pytorch_compile", R"("left_out":"no compiler")"),
                  timing("pytorch_sdpa_flash", R"("time_us":{"median":45,"p5":44,"p95":46,"min":43,"max":47,"samples":30})")}});
  REQUIRE(f.report.suites.size() == 1);
  CHECK(f.report.suites[0].suite == "ln-residual");
  REQUIRE(f.report.suites[0].lines.size() == 1);
  const SuiteLine& line = f.report.suites[0].lines[0];
  REQUIRE(line.ours);
  CHECK(line.ours->kernel == "block_row");  // too_good was wrong
  CHECK(std::abs(line.limit_us - 25) < 1e-3);
  CHECK(std::abs(line.most - 1.6) < 1e-9);
  CHECK(line.claimed == 2.0);
  CHECK(line.claimed_beyond);
  CHECK(words(*line.place) == "eager 120 µs, ours 60 µs, speedup 1.7-2.0x");

  const auto& [eager, compile, unfused, vendor] = line.contenders;
  REQUIRE(eager.size() == 1);
  CHECK((eager[0].elsewhere && eager[0].ratio == 3 && eager[0].beyond && !eager[0].interval));
  REQUIRE(compile.size() == 1);
  CHECK((compile[0].us == 0 && compile[0].why == "no compiler"));
  REQUIRE(unfused.size() == 1);
  REQUIRE(unfused[0].interval);
  CHECK((unfused[0].interval->low == 1.4 && !unfused[0].beyond && !unfused[0].elsewhere));
  REQUIRE(vendor.size() == 2);  // the fastest first
  CHECK((vendor[0].kernel == "pytorch_sdpa_flash" && vendor[0].elsewhere && !vendor[0].beyond));
  CHECK((vendor[1].kernel == "baseline_cudnn" && vendor[1].ratio == 2 && vendor[1].beyond));

  const std::string markdown = to_report_markdown(f.report);
  CHECK(markdown.find(
            "| Prefill | layernorm_residual f16 rows=4096 cols=4096 | eager 120 µs, ours 60 µs, speedup 1.7-2.0x ‡ | 90.00† "
            "3.00× ‡ pytorch_eager | – | 44.00 1.47× [1.40, 1.50] unfused | 45.00† 1.50× pytorch_sdpa_flash | 30.00 block_row | "
            "25.00 | 1.60× | 102.00 / 165.00 | 37.5 % / 38.2 % | ") != std::string::npos);
}

TEST_CASE("report: a kernel that another program could not time has one entry with a reason, unless another file has its time",
          "[report]") {
  const std::string no_vllm = timing("vllm", R"("left_out":"vLLM is not installed")");
  const std::string took = R"("time_us":{"median":90,"p5":89,"p95":91,"min":88,"max":92,"samples":30})";
  const Files f(
      {kBenchFile,
       {kHead, timing("pytorch_eager", took), timing("pytorch_compile", R"("left_out":"no compiler")"), no_vllm},
       {kHead, timing("pytorch_eager", R"("left_out":"the time given was used up")"), timing("pytorch_compile", took), no_vllm}});
  const auto& [eager, compile, unfused, vendor] = f.report.suites.at(0).lines.at(0).contenders;
  REQUIRE(eager.size() == 1);
  CHECK((eager[0].us == 90 && eager[0].why.empty()));
  REQUIRE(compile.size() == 1);
  CHECK((compile[0].us == 90 && compile[0].why.empty()));
  REQUIRE(vendor.size() == 2);  // kernels with a time come first
  CHECK(vendor[0].kernel == "baseline_cudnn");
  CHECK((vendor[1].kernel == "vllm" && vendor[1].us == 0 && vendor[1].why == "vLLM is not installed"));
}

TEST_CASE("report: times of another device are no contenders, and the latest file has the line", "[report]") {
  std::string other = kHead;
  other.replace(other.find("NVIDIA H200"), 11, "NVIDIA T4");
  const Files f({kBenchFile,
                 {other, timing("pytorch_eager", R"("time_us":{"median":90,"p5":89,"p95":91,"min":88,"max":92,"samples":30})")},
                 {kHead, bench("block_row", 28, kPlace)}});
  const SuiteLine& line = f.report.suites.at(0).lines.at(0);
  CHECK(line.contenders[0].empty());
  CHECK(line.file == &f.report.files[2]);
  CHECK((line.ours && line.ours->time_us.p50 == 28));
  CHECK(line.contenders[2].empty());  // the unfused kernel of another run is no contender
  CHECK(!line.unfused);
}

TEST_CASE("report: a line without a time is kept and says why", "[report]") {
  const Files f(
      {{kHead,
        R"({"record":"left_out","op":"gelu","kernel":"naive","backend":"cuda","dtype":"f16","shape":"rows=1","reason":"too )"
        R"(slow","suite":{"name":"s","table":"t","label":"l","reported":{"a_tflops":5,"b":"7 us"}}})",
        bench("unfused", 44, R"(,"suite":{"name":"s","table":"t","label":"l","reported":{}})"),
        bench("naive", 44, R"(,"suite":{"name":"s","table":"t","label":"l","reported":{}})", "3")}});
  REQUIRE(f.report.suites.at(0).lines.size() == 2);
  const SuiteLine& wrong = f.report.suites[0].lines[0];
  CHECK((!wrong.ours && wrong.why == "naive was wrong: err/bound 3" && wrong.limit_us > 0));
  const SuiteLine& slow = f.report.suites[0].lines[1];
  CHECK((!slow.any() && slow.why == "naive: too slow" && slow.most == 0 && words(*slow.place) == "a 5 TFLOP/s, b 7 us"));
  CHECK(to_report_markdown(f.report).find("| – naive: too slow | – | – | – / – | – / – | ") != std::string::npos);
}

TEST_CASE("report: ablations in the order of the ladder, traffic beside unfused's, each function once", "[report]") {
  std::vector<std::string> twice = kBenchFile;
  std::string again = twice[3];
  again.replace(again.find("rows=4096"), 9, "rows=1024");
  again.replace(again.find("\"blocks\":132"), 12, "\"blocks\":64");
  twice.push_back(again);
  Files f({twice});
  REQUIRE(f.report.ablations.size() == 1);
  const Ablation& a = f.report.ablations[0];
  REQUIRE(a.steps.size() == 3);
  CHECK((a.steps[0]->kernel == "naive" && a.gain(0) == 0 && a.gain(1) == 2.5));
  REQUIRE(f.report.traffic.size() == 2);  // unfused stands beside the others and has no line
  const TrafficRow& t = f.report.traffic[1];
  CHECK((t.shape == "rows=4096 cols=4096" && t.dram->sum() == 1.02e8 && t.unfused_dram->sum() == 1.65e8));
  CHECK(!f.report.traffic[0].unfused_dram);

  ReportRow rows[2];
  rows[0].file = rows[1].file = &f.report.files[0];
  rows[0].row = &f.report.files[0].rows[2];
  rows[1].row = &f.report.files[0].rows.back();
  f.report.rows = {rows[0], rows[1]};
  f.report.resources.clear();
  add_counts(f.report);
  REQUIRE(f.report.resources.size() == 1);
  const ResourceRow& r = f.report.resources[0];
  CHECK((r.shapes == 2 && r.needs.blocks == 64 && r.most_blocks == 132 && r.needs.registers == 64 && !r.needs.threads));
}

TEST_CASE("report: fusion can give the time of the saved bytes on top of the limit, copy or matrix", "[report]") {
  TimedRow r;
  r.bytes = 1e8;
  r.unfused_bytes = 1.6e8;
  r.flops = 8e10;
  r.copy_rate = 4e12;
  r.matrix_rate = 8e14;
  CHECK(std::abs(fusion_at_most(r) - 1.15) < 1e-9);  // 100 us of operations, 15 us of bytes between the steps
  r.matrix_rate.reset();
  CHECK(std::abs(fusion_at_most(r) - 1.6) < 1e-9);
  r.copy_rate = 0;
  CHECK(fusion_at_most(r) == 0);
}

TEST_CASE("report: a step of decoding has a line for each kind of launch, the longest first", "[report]") {
  const std::string model =
      R"({"record":"model","way":"assay","config":"configs/small.json","dtype":"bf16","ops":"joined","prompt":128,"batch":1,)"
      R"("outputs":8,"first_token_s":0.01,"token_s":5e-5,"tokens_s":19000,"copy_rate":4e12,"floor_share":0.5,"prompt_steps":[],)"
      R"("steps":[{"op":"rope","kernel":"vector16","name":"q","count":2,"us":10,"bytes":4e6},)"
      R"({"op":"linear","kernel":"tiles","name":"qkv","count":2,"us":30,"bytes":1e8}]})";
  CHECK(test::violation(model) == "");
  const std::string text = to_report_markdown(Files({{kHead, model}}).report);
  const std::size_t at = text.find("### small in bf16, 1 sequence, after prompts of 128 tokens (R1)");
  REQUIRE(at != std::string::npos);
  CHECK(text.substr(at).find("| linear/tiles | qkv | 2 | 30.00 | 75 % | 83 % |\n| rope/vector16 | q | 2 | 10.00 | 25 % | 10 % |\n"
                             "| the whole step, 19000 tokens a second | – | – | 50.00 | – | 50 % |") != std::string::npos);
  std::string untimed = model;
  untimed.replace(untimed.find("\"us\":10"), 7, "\"us\":0");
  CHECK_THROWS_AS(Files({{kHead, untimed}}), BadInput);
}

TEST_CASE("records: profiles and timings may lack fields, but a wrong time or byte count is refused", "[report]") {
  const Files f(
      {{kHead, R"({"record":"profile","op":"gelu","kernel":"naive","dtype":"f16","shape":"rows=1","function":"gelu_naive",)"
               R"("occupancy_achieved":0.4,"stalls":{"barrier":0.1,"long_scoreboard":0.6}})"}});
  REQUIRE(f.report.profiles.size() == 1);
  const ProfileRow& p = *f.report.profiles[0].second;
  CHECK((p.occupancy_achieved == 0.4 && !p.compute_share && p.stalls[0].first == "long_scoreboard"));
  CHECK_THROWS_AS(
      Files({{kHead, timing("pytorch_eager", R"("time_us":{"median":0,"p5":0,"p95":0,"min":0,"max":0,"samples":1})")}}),
      BadInput);
  CHECK_THROWS_AS(Files({{kHead, bench("naive", 10, R"(,"dram":{"read_bytes":1})")}}), BadInput);
}
