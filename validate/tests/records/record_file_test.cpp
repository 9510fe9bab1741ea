// SPDX-License-Identifier: Apache-2.0
// Reading files of records: times of other programs, compressed files, damaged files, files of other kinds.
#include "validate/records/record_file.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "catch_shim.hpp"
#include "schema_checker.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/records/record.hpp"
#include "validate/records/regression.hpp"
#include "validate/records/text_file.hpp"

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

const std::string kHead = to_json(RunHead{.version = "0.1.0", .backend = "cuda", .device = "a card"}) + "\n";

RecordFile read(const std::vector<std::string>& lines) {
  std::string text = kHead;
  for (const std::string& line : lines) text += line + "\n";
  return records_in(text, "a.jsonl");
}

// A temporary file, removed at the end.
struct Stored {
  fs::path path = fs::temp_directory_path() / ("assay_records_" + std::to_string(::getpid()) + ".jsonl.gz");
  explicit Stored(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  Stored(const Stored&) = delete;
  ~Stored() { fs::remove(path); }
};

std::string gzip(const std::string& text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&z, text.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// The message with which a file is refused; empty if it is read.
std::string refused(const std::function<void()>& read_it) {
  try {
    read_it();
  } catch (const BadInput& e) {
    return e.what();
  }
  return "";
}
std::string refused(const std::string& text) {
  return refused([&] { records_in(text, "a.jsonl"); });
}

}  // namespace

TEST_CASE("record file: times of other programs are read, apart from our rows") {
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
  // A rest before each launch makes it another row, in both kinds of record.
  std::string bench = kBench, timed = kTimed;
  for (std::string* text : {&bench, &timed}) text->insert(text->find('{') + 1, R"("rest_s": 0.01, )");
  CHECK(violation(timed) == "");
  const RecordFile rested = read({line_of(bench.c_str()), line_of(timed.c_str())});
  CHECK(rested.rows[0].shape == t.shape + " (after 0.01 s of rest)");
  CHECK(rested.timings[0].shape == rested.rows[0].shape);
  bench = kBench;
  bench.insert(bench.find('{') + 1, R"("l2": "clean", )");
  CHECK(read({line_of(bench.c_str())}).rows[0].shape == t.shape + " (clean L2)");
}

TEST_CASE("record file: a timing has either a time or a reason for having none") {
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

TEST_CASE("record file: compare ignores times of other programs") {
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

TEST_CASE("record file: a compressed file is read; one that is cut off or damaged is refused") {
  const std::string text = kHead + line_of(kBench) + "\n", packed = gzip(text);
  CHECK(packed.size() < text.size());
  CHECK(read_text_file(Stored(text).path) == text);
  CHECK(read_text_file(Stored(packed).path) == text);
  CHECK(read_text_file(Stored(packed + gzip("more\n")).path) == text + "more\n");
  const RecordFile f = read_records(Stored(packed).path);
  CHECK(f.rows.size() == 1);
  CHECK(f.lines.size() == 2);
  for (const std::size_t kept : {std::size_t{3}, packed.size() / 2, packed.size() - 1}) {
    CAPTURE(kept);
    const Stored cut(packed.substr(0, kept));
    CHECK(refused([&] { read_records(cut.path); }) ==
          "cannot read '" + cut.path.string() + "': it is a gzip file that was cut off or damaged");
  }
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
  CHECK(refused([&] { read_records(Stored(damaged).path); }).find("cut off or damaged") != std::string::npos);
  CHECK(refused([] { read_records("/nonesuch"); }) == "cannot read '/nonesuch': No such file or directory");
  CHECK(refused([] { read_records("/tmp"); }) == "cannot read '/tmp': Is a directory");
  CHECK(refused([] { read_records("/dev/null"); }) == "cannot read '/dev/null': it is a device, not a file");
  const Stored pipe("");
  REQUIRE((fs::remove(pipe.path) && ::mkfifo(pipe.path.c_str(), 0600) == 0));
  CHECK(refused([&] { read_records(pipe.path); }) == "cannot read '" + pipe.path.string() + "': it is a pipe, not a file");
}

TEST_CASE("record file: depth, numbers and texts have bounds") {
  const auto why = [](const std::string& line) { return refused(kHead + line + "\n"); };
  for (const int depth : {65, 100'000}) {
    const auto times = static_cast<std::size_t>(depth);
    for (const std::string& line :
         {std::string(times, '['), R"({"record":"bench","x":)" + std::string(times, '[') + std::string(times, ']') + "}"})
      CHECK(why(line) == "'a.jsonl' line 2 is not a record: its lists and objects lie too deep in each other");
  }
  CHECK_FALSE(nests_too_deeply(std::string(kMostNesting, '[')));
  CHECK_FALSE(nests_too_deeply("\"" + std::string(100, '[') + "\\\"" + std::string(100, '[') + "\""));
  CHECK(why(R"({"record":"bench","flops":1e309})") == "'a.jsonl' line 2 is not a record: a number of it is out of range");
  Json row = Json::parse(line_of(kBench));
  row["time_us"]["median"] = 1e308;
  CHECK(why(row.dump()) == "'a.jsonl' line 2: 'median' is 1e+308, and at most 1e+30 is possible");
  // No number of any record, however large, gives another program's words.
  std::ifstream corpus(ASSAY_DATASETS_DIR "/../validate/tests/fuzz/corpus/records/every_kind.jsonl");
  REQUIRE(corpus);
  for (std::string record; std::getline(corpus, record);) {
    const Json whole = Json::parse(record).flatten();
    for (const auto& [pointer, value] : whole.items())
      for (const double large : {1e308, -1e308, 5e-324}) {
        if (!value.is_number() || record.starts_with(R"({"record":"run")")) continue;
        Json j = whole.unflatten();
        j[Json::json_pointer(pointer)] = large;
        CAPTURE(pointer, large);
        const std::string said = why(j.dump());
        CHECK((said.empty() || said.starts_with("'a.jsonl' line 2")));
      }
  }
  row = Json::parse(line_of(kBench));
  row["kernel"] = "a\x1b[2J\x7f\xc2\x9b\n";
  const RecordFile f = read({row.dump()});
  REQUIRE(f.rows.size() == 1);
  CHECK(f.rows[0].kernel == "a?[2J???");
}

TEST_CASE("record file: what is missing and what is null are the same, and no number stands for either") {
  const Json whole = Json::parse(line_of(kBench));
  Json full = whole;
  full["score"] = 0.5;
  full["speedup"] = 2;
  full["baseline"] = "unfused";
  full["matrix_rate_flops_per_s"] = 1e15;
  full["device_bytes"] = {{"tensors", 1}, {"workspace", 1}, {"other", 1}, {"peak", 3}};
  full["machine"] = {
      {"sm_mhz_min", 1980}, {"sm_mhz_max", 1980}, {"memory_mhz", 3201}, {"power_w_max", 600}, {"throttle", Json::array()}};
  full["resources"] = {{{"function", "f"}, {"registers", 40}}};
  const TimedRow all = read({line_of(full)}).rows.at(0);
  CHECK((all.score == 0.5 && all.matrix_rate == 1e15 && all.peak_bytes == 3.0 && all.speedups.at("unfused") == 2));
  CHECK((all.machine->sm_mhz_max == 1980.0 && !all.machine->temperature_c_max));
  CHECK((all.resources.at(0).registers == 40.0 && !all.resources.at(0).occupancy));
  for (const bool null : {false, true}) {
    Json bare = full;
    for (const char* name : {"/score", "/speedup", "/matrix_rate_flops_per_s", "/device_bytes", "/machine/sm_mhz_max"}) {
      const Json::json_pointer at(name);
      if (null) bare[at] = nullptr;
      else bare[at.parent_pointer()].erase(at.back());
    }
    const TimedRow row = read({line_of(bare)}).rows.at(0);
    CHECK((!row.score && row.speedups.empty() && !row.matrix_rate && !row.peak_bytes && !row.machine->sm_mhz_max));
  }
  full["machine"]["sm_mhz_max"] = 0;  // as older records have it
  CHECK_FALSE(read({line_of(full)}).rows.at(0).machine->sm_mhz_max);
  const char* const profile =
      R"({"record":"profile","op":"o","kernel":"k","dtype":"f16","shape":"s","function":"f","registers":0})";
  const ProfileRow p = read({profile}).profiles.at(0);
  CHECK((p.registers == 0.0 && !p.time_us && !p.dram_share));
}

TEST_CASE("record file: other files are refused with file, line and what was expected") {
  const std::string line = line_of(kBench);
  CHECK(refused(kHead + line.substr(0, 90)) == "'a.jsonl' line 2 is not a record: the file was cut off in the middle of it");
  CHECK(refused(kHead + line.substr(0, 90) + "\n") ==
        "'a.jsonl' line 2 is not a record: expected a JSON object on each line, as validate writes them with --json");
  for (const char* foreign : {"hello\n", "[1]\n", "{\n", "\n", "PK\x03\x04"}) {
    CAPTURE(foreign);
    CHECK(refused(std::string(foreign)) ==
          "'a.jsonl' line 1 is not a record: expected a JSON object on each line, as validate writes them with --json");
  }
  CHECK(refused(R"({"name":"left-pad"})") == "'a.jsonl' line 1: a file of records begins with a run, which this line is not");
  CHECK(refused(R"({"record":7})") ==
        "'a.jsonl' line 1 is not a record: a field of it is missing or not of the kind that reports/schema.json gives it");
  CHECK(refused(kHead + kHead) == "'a.jsonl' line 2: a second run begins here");
  CHECK(refused("") == "'a.jsonl' holds no records");
  // A field of the wrong type in any record is read or refused, but never with the JSON library's message.
  std::ifstream corpus(ASSAY_DATASETS_DIR "/../validate/tests/fuzz/corpus/records/every_kind.jsonl");
  REQUIRE(corpus);
  std::size_t kinds = 0, said = 0;
  for (std::string record; std::getline(corpus, record); ++kinds) {
    const Json whole = Json::parse(record).flatten();
    for (const auto& [pointer, value] : whole.items())
      for (const Json& other : {Json(nullptr), Json("text"), Json(-1), Json::array({Json::object()})}) {
        Json j = whole.unflatten();
        j[Json::json_pointer(pointer)] = other;
        const bool head = j.value("record", Json()) == "run" && kinds == 0;
        const std::string why = refused((head ? "" : kHead) + j.dump() + "\n");
        CAPTURE(pointer, other.dump(), why);
        CHECK(why.find("json.exception") == std::string::npos);
        CHECK((why.empty() || why.starts_with(head ? "'a.jsonl' line 1" : "'a.jsonl' line ")));
        said += !why.empty();
      }
  }
  CHECK(kinds >= 8);
  CHECK(said > 100);
}

TEST_CASE("record file: a failing case, its shrunk case and the faults of power are read") {
  const RecordFile f = read(
      {R"({"record":"case","op":"softmax","kernel":"naive","dtype":"f16","verdict":"failed","reason":"err/bound 12","wrong":2,)"
       R"("worst":{"tensor":"y","index":[3,7],"got":"nan","golden":0.5,"bound":1e-3,"tile":"first of row tile 1"},)"
       R"("pattern":"2 of 9 wrong","reads_like":"an index","would_pass":["chain=16"],)"
       R"("repro":"softmax/naive f16 rows=9 cols=9 seed=1"})",
       R"({"record":"shrunk","of":"softmax/naive f16 rows=9 cols=9 seed=1","label":"racy","same_seed":{"run":2,"failed":1},)"
       R"("other_seeds":{"run":2,"failed":0},"smallest":{"repro":"softmax/naive f16 rows=1 cols=9 seed=1","verdict":"failed",)"
       R"("reason":"err/bound 9","reads_like":"one tile"},"after":["softmax/naive f16 rows=2 cols=9 seed=1"],"tried":4,"seconds":0.1})",
       R"({"record":"power","op":"softmax","kernel":"naive","dtype":"f16","fault":"output","tried":5,"verdict":"suspect"})"});
  REQUIRE(f.cases.size() == 1);
  REQUIRE(f.cases[0].worst);
  const WorstElement& w = *f.cases[0].worst;
  CHECK(
      (w.tensor == "y" && w.index == std::vector<std::int64_t>{3, 7} && std::isnan(w.got) && w.golden == 0.5 && w.bound == 1e-3));
  CHECK((w.tile == "first of row tile 1" && f.cases[0].reads_like == "an index"));
  CHECK(f.cases[0].would_pass == std::vector<std::string>{"chain=16"});
  REQUIRE(f.shrunk.size() == 1);
  CHECK((f.shrunk[0].of == f.cases[0].repro && f.shrunk[0].label == "racy" && f.shrunk[0].same_seed.failed == 1));
  CHECK(f.shrunk[0].smallest == "softmax/naive f16 rows=1 cols=9 seed=1");
  CHECK((f.shrunk[0].reads_like == "one tile" && f.shrunk[0].after == 1));
  REQUIRE(f.faults.size() == 1);
  CHECK((!f.faults[0].rejected && f.faults[0].tried == 5));
}
