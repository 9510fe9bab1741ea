// SPDX-License-Identifier: Apache-2.0
// Checks records against reports/schema.json.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "schema_checker.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/records/fields/kinds.hpp"
#include "validate/records/fields/schema_maker.hpp"
#include "validate/records/fields/view_fields.hpp"
#include "validate/records/fields/view_times.hpp"
#include "validate/records/record.hpp"

using namespace assay;
using namespace assay::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

Record full_record() {
  Record r;
  r.kernel = "warp_row";
  r.backend = "simt";
  r.c.op = "layernorm_residual";
  r.c.dtype = bf16;
  r.c.dims[Axis::rows] = 0;
  r.c.dims[Axis::cols] = kMostExtent;
  r.c.attributes = {{"epsilon", 1e-6}, {"scale", std::numeric_limits<double>::infinity()}};
  r.c.seed = std::numeric_limits<std::uint64_t>::max();
  r.c.source = "models/gpt2-124m";
  r.c.reduced = {{"rows", 4096, 129}};
  r.verdict = Verdict::failed;
  r.reason = "err/bound = nan \"quoted\" \xff";
  r.caught(Tier::T1);
  r.caught(Tier::watch);
  r.caught(Tier::T1);
  r.policies = {{name(Policy::nmse), true}, {name(Policy::cosine), false}};
  r.exact = r.multi_tile_ragged = true;
  r.compared = kMostElements;
  r.wrong = 1;
  r.margin = std::numeric_limits<double>::quiet_NaN();
  r.max_abs_error = 1e-3;
  r.worst = Record::Worst{
      "y", {0, 1}, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 5e-324, "in row tile 0"};
  r.pattern = "1 of 2 wrong";
  r.reads_like = "one tile";
  r.would_pass = {"flushes_storage"};
  r.deterministic = false;
  r.digest = 0x0123456789abcdef;
  r.rows = 5;
  r.rows_checked = {0, 4};
  r.rms_ratio = 1.1;
  r.bias = std::numeric_limits<double>::quiet_NaN();
  r.relations = {"rows_permuted", "doubled"};
  r.cost = {1e18, 1e15, 1e15, 3e15};
  r.traffic["x"] = {1, 2, 3, 4, 5, std::numeric_limits<std::uint64_t>::max()};
  r.traffic["y"] = {};
  r.seconds = 1e-9;
  r.repro = "layernorm_residual/warp_row bf16 rows=0 cols=7 seed=1";
  return r;
}

const char* const kBench = R"({"record":"bench","op":"layernorm_residual","kernel":"warp_row","backend":"cuda","dtype":"f16",
  "shape":"rows=16384 cols=8192","time_us":{"median":187.1,"p5":186.9,"p95":188.0,"min":186.0,"max":190.5,"samples":1000},
  "l2":"flushed","flops":1207959552.0,"bytes":{"formula":805339136.0,"unfused_formula":1342210048.0},"rate_bytes_per_s":4.3e12,
  "copy_rate_bytes_per_s":4.2e12,"share_of_copy":1.02,"rate_flops_per_s":6.5e12,"matrix_rate_flops_per_s":7.1e14,
  "share_of_matrix":0.009,"limit":"copy","share_of_limit":1.02,"baseline":"unfused","speedup":1.6,
  "speedups":{"unfused":1.6,"baseline_cudnn":1.1},"margin_after_timing":0.3})";

// The fields that a reader of T names and a schema lacks, or has as optional where the reader requires it.
class NamedFields {
 public:
  static constexpr bool kReads = false;
  NamedFields(const Json& schema, std::string& unknown) : schema_(defined(schema)), unknown_(unknown) {}
  template <class T>
  void required(std::string_view name, const T& value, const Say& = {}) {
    const Json all = schema_.value("required", Json::array());
    if (std::find(all.begin(), all.end(), name) == all.end()) unknown_ += fmt::format(" {} (required)", name);
    optional(name, value);
  }
  template <class T>
  void optional(std::string_view name, const T& value, const Say& = {}) {
    const Json& all = schema_.at("properties");
    if (const auto at = all.find(std::string(name)); at != all.end()) within(*at, value);
    else unknown_ += fmt::format(" {}", name);
  }
  template <class T>
  void added(std::string_view name, const T& value, const Say& = {}) {
    optional(name, value);
  }
  void either(std::string_view, std::string_view) {}

 private:
  static const Json& defined(const Json& schema) {
    if (!schema.contains("$ref")) return schema;
    const std::string reference = schema.at("$ref");
    return defined(record_schema().at("$defs").at(reference.substr(reference.rfind('/') + 1)));
  }
  template <class T>
  void within(const Json& schema, const T&) {
    if constexpr (Described<T>) {
      NamedFields inner(schema, unknown_);
      T value{};
      Fields<T>::visit(inner, value);
    }
  }
  template <class T>
  void within(const Json& schema, const std::optional<T>&) {
    within(schema, T{});
  }
  template <class T>
  void within(const Json& schema, const std::vector<T>&) {
    if constexpr (Described<T>) within(defined(schema).at("items"), T{});
  }
  template <class T>
  void within(const Json& schema, const std::map<std::string, T>&) {
    if constexpr (Described<T>) within(defined(schema).at("additionalProperties"), T{});
  }

  const Json& schema_;
  std::string& unknown_;
};

template <class T>
std::string unknown_fields(const std::string& kind) {
  std::string unknown;
  NamedFields named(record_schema().at("$defs").at(kind), unknown);
  T value{};
  Fields<T>::visit(named, value);
  return unknown;
}

const char* const kResources = R"([{"function":"rows_room::norm<__half, 8>","registers":40,"static_shared":32,"dynamic_shared":0,
  "local_bytes":0,"threads":256,"blocks":16384,"blocks_per_sm":6,"occupancy":0.75}])";

}  // namespace

TEST_CASE("schema: full and bare records conform") {
  CHECK(violation(to_json(full_record())) == "");
  CHECK(violation(to_json(Record{.backend = "cuda", .c = {}, .worst = {}, .cost = {}})) == "");
  for (int v = 0; v < 7; ++v) {
    Record r = full_record();
    r.verdict = static_cast<Verdict>(v);
    r.margin = v % 2 ? std::optional<double>{} : std::numeric_limits<double>::infinity();
    CHECK(violation(to_json(r)) == "");
  }
  RunHead head{.version = "0.1.0", .commit = "3f2ed5a", .backend = "simt", .device = "simt (2 cores)"};
  head.seed = std::numeric_limits<std::uint64_t>::max();
  CHECK(violation(to_json(head)) == "");
  Tally tally;
  CHECK(violation(to_json(tally)) == "");
  tally.add(full_record());
  tally.seconds = 1e9;
  tally.interrupted = true;
  tally.work = {1.5, 2, 3, 0};
  CHECK(violation(to_json(tally)) == "");
  PowerLine power{.op = "linear", .kernel = "naive", .dtype = f16, .fault = "accumulator", .tried = 3, .rejected_by = {}};
  CHECK(violation(to_json(power)) == "");
  CHECK(Json::parse(to_json(power)).at("verdict") == "suspect");
  power.rejected_by = "linear/naive f16 tokens=1 hidden=1 out=1 seed=0";
  CHECK(violation(to_json(power)) == "");
  CHECK(Json::parse(to_json(power)).at("verdict") == "passed");
  Json traffic = Json::parse(to_json(full_record()));
  traffic["record"] = "traffic";
  traffic.erase("reduced");
  traffic.erase("policies");
  CHECK(violation(traffic.dump()) == "");
  Json bench = Json::parse(kBench);
  CHECK(violation(bench.dump()) == "");
  bench["speedup"] = nullptr;  // as older records have it
  bench["margin_after_timing"] = "inf";
  bench["matrix_rate_flops_per_s"] = nullptr;
  bench["share_of_matrix"] = nullptr;
  bench["speedups"] = Json::object();
  CHECK(violation(bench.dump()) == "");
  for (const char* missing : {"speedup", "matrix_rate_flops_per_s", "share_of_matrix"}) bench.erase(missing);
  CHECK(violation(bench.dump()) == "");
  bench["dram"] = {{"read_bytes", 5e8}, {"written_bytes", 0}};
  bench["resources"] = Json::parse(kResources);
  bench["copy_us"] = bench["time_us"];
  bench["share_of_same_copy"] = 1.1;
  CHECK(violation(bench.dump()) == "");
  for (const char* launched : {"[]", kResources}) {
    Json j =
        Json::parse(R"({"record":"launched","op":"linear","kernel":"naive","backend":"cuda","dtype":"f16","shape":"tokens=1"})");
    CHECK(violation(j.dump()) != "");
    j["functions"] = Json::parse(launched);
    CHECK(violation(j.dump()) == "");
  }
  const char* const left_out =
      R"({"record":"left_out","op":"linear","kernel":"naive","backend":"cuda","dtype":"f16","shape":"tokens=1","reason":"slow"})";
  CHECK(violation(left_out) == "");
  const char* const memory =
      R"({"record":"memory","op":"linear","kernel":"naive","backend":"simt","dtype":"f16","shape":"tokens=1",
    "tensor_bytes":12,"workspace_bytes":0})";
  CHECK(violation(memory) == "");
  Shrunk shrunk{.of = "op/kernel f32 rows=7 seed=1"};
  CHECK(violation(to_json(shrunk)) == "");
  shrunk.label = "seed-specific";
  shrunk.same_seed = {2, 2};
  shrunk.other_seeds = {2, 0};
  shrunk.tried = 5;
  shrunk.seconds = 0.5;
  shrunk.smallest = full_record();
  CHECK(violation(to_json(shrunk)) == "");
  shrunk.label = "flaky";
  CHECK(violation(to_json(shrunk)) != "");
  head.libraries = {{"cuBLASLt", "13.1.0"}};
  CHECK(violation(to_json(head)) == "");
}

TEST_CASE("schema: every field of a record is checked") {
  const Json good = Json::parse(to_json(full_record()));
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    Json bad = good;
    bad[key] = Json::array({Json::object()});  // right for no field
    CHECK(violation(bad.dump()) != "");
  }
  const auto with = [&](const char* pointer, const Json& value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    return violation(bad.dump());
  };
  CHECK(with("/record", "casE") != "");
  CHECK(with("/verdict", "pass") != "");
  CHECK(with("/margin", "NaN") != "");
  CHECK(with("/margin", nullptr) != "");
  CHECK(with("/compared", -1) != "");
  CHECK(with("/compared", 1.5) != "");
  CHECK(with("/axes/rows", "three") != "");
  CHECK(with("/worst/got", "big") != "");
  CHECK(with("/worst/index/0", -1) != "");
  CHECK(with("/bytes/counted/x/read_bytes", "1") != "");
  CHECK(with("/bytes/formula", nullptr) != "");
  CHECK(with("/reduced/0/axis", 1) != "");
  CHECK(with("/digest", "0123456789abcdeg") != "");
  CHECK(with("/sampled/checked/0", -1) != "");
  CHECK(with("/rms_ratio", "1") != "");
  CHECK(with("/bias", nullptr) != "");
  CHECK(with("/relations/0", 1) != "");
  CHECK(with("/surprise", 1) != "");
  for (const char* required : {"op", "kernel", "axes", "verdict", "bytes", "repro", "record"}) {
    Json bad = good;
    bad.erase(required);
    CHECK(violation(bad.dump()) != "");
  }
  Json bench = Json::parse(kBench);
  bench["limit"] = "patience";
  CHECK(violation(bench.dump()) != "");
  bench["limit"] = "matrix";
  CHECK(violation(bench.dump()) == "");
  bench["dram"] = {{"read_bytes", 5e8}};
  CHECK(violation(bench.dump()) != "");
  bench.erase("dram");
  bench["resources"] = Json::parse(kResources);
  bench["resources"][0]["occupancy"] = 75;
  CHECK(violation(bench.dump()) != "");
  bench["resources"][0]["occupancy"] = 0.75;
  bench["library_functions"] = Json::parse(R"([{"function":"gemm","blocks":132}])");
  CHECK(violation(bench.dump()) == "");
  bench["library_functions"][0]["blocks"] = -1;
  CHECK(violation(bench.dump()) != "");
  bench.erase("library_functions");
  Json timing = Json::parse(
      R"({"record":"timing","source":"pytorch 2.11","op":"linear","kernel":"pytorch_eager","backend":"cuda","dtype":"f16",
    "shape":"tokens=1","what":"x @ w","left_out":"no","functions":[{"function":"gemm","blocks":132}]})");
  CHECK(violation(timing.dump()) == "");
  timing["functions"][0].erase("function");
  CHECK(violation(timing.dump()) != "");
  for (const auto& [field, wrong] : {std::pair<const char*, Json>{"copy_us", 5}, {"share_of_same_copy", "1x"}}) {
    bench[field] = wrong;
    CHECK(violation(bench.dump()) != "");
    bench.erase(field);
    CHECK(violation(bench.dump()) == "");
  }
  bench["time_us"]["samples"] = 0;
  CHECK(violation(bench.dump()) != "");
}

// `validate describe records` writes the file.
TEST_CASE("schema: reports/schema.json is what the fields of the records make") {
  std::ifstream in(ASSAY_DATASETS_DIR "/../reports/schema.json", std::ios::binary);
  REQUIRE(in);
  const std::string there{std::istreambuf_iterator<char>(in), {}}, made = schema_text(schema_of_records());
  const auto [a, b] = std::mismatch(there.begin(), there.end(), made.begin(), made.end());
  INFO("the same up to: " << std::string(std::max(there.begin(), a - 200), a));
  CHECK((a == there.end() && b == made.end()));
  CHECK(Json::parse(made) == record_schema());
}

TEST_CASE("schema: what compare and report read are fields of it, and they require no other than it does") {
  CHECK(unknown_fields<RecordFile>("run") == "");
  CHECK(unknown_fields<JudgedCase>("case") == "");
  CHECK(unknown_fields<CountedTraffic>("traffic") == "");
  CHECK(unknown_fields<ShrunkCase>("shrunk") == "");
  CHECK(unknown_fields<PlantedFault>("power") == "");
  CHECK(unknown_fields<TimedRow>("bench") == "");
  CHECK(unknown_fields<LeftOut>("left_out") == "");
  CHECK(unknown_fields<Timing>("timing") == "");
  CHECK(unknown_fields<DecodeTimes>("model") == "");
  CHECK(unknown_fields<ProfileRow>("profile") == "");
  CHECK(unknown_fields<ProbeRecord>("probe") == "");
  CHECK(unknown_fields<RunEnd>("end") == "");
  // Fields of another kind are found.
  CHECK(unknown_fields<TimedRow>("case").find(" shape") != std::string::npos);
  CHECK(unknown_fields<JudgedCase>("left_out").find(" verdict") != std::string::npos);
  CHECK(unknown_fields<ShrunkCase>("power").find(" same_seed") != std::string::npos);
}

TEST_CASE("schema: its dtypes and verdicts are those of the code") {
  const Json& defs = record_schema().at("$defs");
  std::vector<std::string> dtypes, verdicts;
  for (const DTypeInfo& t : kDTypes) dtypes.emplace_back(t.name);
  for (const std::string_view v : kVerdicts) verdicts.emplace_back(v);
  CHECK(defs.at("dtype").at("enum") == Json(dtypes));
  CHECK(defs.at("case").at("properties").at("verdict").at("enum") == Json(verdicts));
  CHECK(defs.at("end").at("properties").at("verdicts").at("required") == Json(verdicts));
  CHECK(defs.at("run").at("properties").at("schema").at("const") == kSchemaVersion);
}

// ctest runs the command first and names the folder with its records.
TEST_CASE("schema: every line that the command wrote conforms", "[recorded]") {
  const char* folder = std::getenv("ASSAY_RECORDS");
  if (!folder) return;
  int files = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    ++files;
    CAPTURE(file.path().filename().string());
    std::ifstream in(file.path());
    std::string line, first, last;
    while (std::getline(in, line)) {
      REQUIRE(violation(line) == "");
      const std::string kind = Json::parse(line).at("record");
      if (first.empty()) first = kind;
      last = kind;
    }
    CHECK(first == "run");
    CHECK((last == "end" || last == "traffic" || last == "bench" || last == "memory" || last == "probe" || last == "timing" ||
           last == "profile"));
  }
  CHECK(files > 0);
}
