// SPDX-License-Identifier: Apache-2.0
// Files of records, read back: times of other programs.
#include "validate/records/record_file.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch_shim.hpp"
#include "schema_checker.hpp"
#include "validate/base/error.hpp"
#include "validate/records/record.hpp"
#include "validate/records/regression.hpp"

using namespace assay;
using namespace assay::test;
namespace fs = std::filesystem;

namespace {

const char* const kTimed = R"({"record":"timing","source":"pytorch 2.11.0","op":"layernorm_residual","kernel":"pytorch_eager",
  "backend":"cuda","dtype":"f16","shape":"rows=16384 cols=8192","what":"F.layer_norm(x) + r","time_us":{"median":410.5,"p5":408,
  "p95":420,"min":407,"max":431,"mean":411.25,"std":2.5,"samples":1000,"p99":425},"samples_us":[[410.5,411.5]]})";
const char* const kLeftOut =
    R"({"record":"timing","source":"pytorch 2.11.0","op":"paged_attention","kernel":"vllm","backend":"cuda",
  "dtype":"f16","shape":"batch=1","what":"vLLM's paged attention","left_out":"vLLM is not installed"})";
const char* const kBench = R"({"record":"bench","op":"layernorm_residual","kernel":"warp_row","dtype":"f16",
  "shape":"rows=16384 cols=8192","time_us":{"median":187.1,"p5":186.9,"p95":188.0,"min":186.0,"max":190.5,"samples":1000},
  "flops":1.2e9,"bytes":{"formula":8e8,"unfused_formula":1.3e9},"copy_rate_bytes_per_s":4.2e12,"share_of_copy":1.02,
  "margin_after_timing":0.3})";

std::string line_of(const Json& j) { return j.dump(); }
std::string line_of(const char* text) { return Json::parse(text).dump(); }

RecordFile read(const std::vector<std::string>& lines) {
  const fs::path path = fs::temp_directory_path() / ("assay_records_" + std::to_string(::getpid()) + ".jsonl");
  std::ofstream out(path);
  out << to_json(RunHead{.version = "0.1.0", .backend = "cuda", .device = "a card"}) << "\n";
  for (const std::string& line : lines) out << line << "\n";
  out.close();
  struct Removed {
    const fs::path& path;
    ~Removed() { fs::remove(path); }
  } removed{path};
  return read_records(path.string());
}

}  // namespace

TEST_CASE("record file: times of other programs are read, beside our rows") {
  CHECK(violation(kTimed) == "");
  CHECK(violation(kLeftOut) == "");
  const RecordFile f = read({line_of(kBench), line_of(kTimed), line_of(kLeftOut)});
  REQUIRE(f.rows.size() == 1);
  REQUIRE(f.timings.size() == 2);
  CHECK(f.left_out.empty());
  const Timing& t = f.timings[0];
  CHECK(t.op == "layernorm_residual");
  CHECK(t.kernel == "pytorch_eager");
  CHECK(t.dtype == "f16");
  CHECK(t.shape == f.rows[0].shape);
  CHECK(t.what == "F.layer_norm(x) + r");
  CHECK(t.source == "pytorch 2.11.0");
  CHECK(t.left_out.empty());
  CHECK(t.time_us.p50 == 410.5);
  CHECK(t.time_us.p5 == 408);
  CHECK(t.time_us.p95 == 420);
  CHECK(t.time_us.min == 407);
  CHECK(t.time_us.max == 431);
  CHECK(t.time_us.mean == 411.25);
  CHECK(t.time_us.std == 2.5);
  CHECK(t.time_us.p99 == 425.0);
  CHECK(t.time_us.n == 1000);
  CHECK(t.samples == Clusters{{410.5, 411.5}});
  CHECK(f.timings[1].left_out == "vLLM is not installed");
  // What rested before each launch is another row, on either side.
  std::string bench = kBench, timed = kTimed;
  for (std::string* text : {&bench, &timed}) text->insert(text->find('{') + 1, R"("rest_s": 0.01, )");
  CHECK(violation(timed) == "");
  const RecordFile rested = read({line_of(bench.c_str()), line_of(timed.c_str())});
  CHECK(rested.rows[0].shape == t.shape + " (after 0.01 s of rest)");
  CHECK(rested.timings[0].shape == rested.rows[0].shape);
}

TEST_CASE("record file: a timing that says neither a time nor a reason, or both, is none") {
  for (const char* key : {"op", "kernel", "dtype", "shape", "what", "source", "time_us"}) {
    CAPTURE(key);
    Json j = Json::parse(kTimed);
    j.erase(key);
    CHECK(violation(j.dump()) != "");
    CHECK_THROWS_AS(read({line_of(j)}), BadInput);
  }
  const auto with = [](const char* pointer, const Json& value) {
    Json j = Json::parse(kTimed);
    j[Json::json_pointer(pointer)] = value;
    return j;
  };
  for (const Json& j : {with("/left_out", "slow"), with("/time_us/median", "fast"), with("/samples_us/0/0", "quick"),
                        with("/time_us", nullptr)}) {
    CAPTURE(j.dump());
    CHECK(violation(j.dump()) != "");
    CHECK_THROWS_AS(read({line_of(j)}), BadInput);
  }
  CHECK_THROWS_AS(read({line_of(with("/time_us/median", 0))}), BadInput);
  CHECK_THROWS_AS(read({line_of(with("/samples_us/0/0", -1))}), BadInput);
  Json silent = Json::parse(kLeftOut);
  silent["left_out"] = "";
  CHECK(violation(silent.dump()) != "");
  CHECK_THROWS_AS(read({line_of(silent)}), BadInput);
  CHECK(violation(with("/surprise", 1).dump()) != "");
}

TEST_CASE("record file: compare has no eye for times of other programs") {
  const RecordFile ours = read({line_of(kBench)});
  Json slow = Json::parse(kTimed);
  slow["time_us"]["median"] = 9999;
  const RecordFile base = read({line_of(kBench), line_of(kTimed)}),
                   now = read({line_of(kBench), line_of(slow), line_of(kLeftOut)});
  for (const auto& [a, b] : {std::pair{&base, &now}, {&ours, &now}, {&base, &ours}}) {
    const Difference d = difference(*a, *b, {});
    CHECK(d.times.size() == 1);
    CHECK(d.only_in_base + d.only_in_now == 0);
    CHECK(d.gate_holds());
  }
}
