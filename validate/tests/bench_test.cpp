// SPDX-License-Identifier: Apache-2.0
// bench's rows, on a machine that computes as simt does and whose clock is pretended.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "catch_shim.hpp"
#include "ops/layernorm_residual.hpp"
#include "schema_checker.hpp"
#include "simt/machine.hpp"
#include "validate/command/bench.hpp"
#include "validate/random.hpp"
#include "validate/record_file.hpp"
#include "validate/regression.hpp"

namespace assay {
namespace {

using test::Json;

// Kernel number i takes 10·(i + 1) us, or what is said.
class PretendedClock final : public Backend {
 public:
  bool computes = true;
  Launcher slow = nullptr;  // this one takes long by the host's clock
  int slow_runs = 1 << 30;  // the first so many times
  std::vector<Launcher> timed, launched_alone, launched_watched;
  std::string why_no_dram;
  // With it, what a launch on these arguments takes, 40 times with some noise.
  std::function<double(const void* args)> work;
  std::uint64_t noise = 1;

  std::string_view name() const override { return "cuda"; }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    return simt::allocate(bytes, offset, label);
  }
  void release(void* p) noexcept override { simt::release(p); }
  bool checks_bounds() const override { return true; }
  void write(void* device, const void* host, std::size_t bytes) override {
    if (bytes) std::memcpy(device, host, bytes);
  }
  void read(void* host, const void* device, std::size_t bytes) override { write(host, device, bytes); }
  void run(Launcher launch_it, const void* args, void* workspace, const Variation&) override {
    simt::configure({});
    simt::reset_counts();
    if (launch_it == slow && slow_runs-- > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (computes) launch_it(args, {.stream = nullptr, .workspace = workspace});
  }
  Launcher launcher(const Kernel& k) const override { return k.on_simt; }
  int arch() const override { return 90; }
  std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>& kernels, double) override {
    std::vector<std::vector<double>> us;
    for (const TimedLaunch& k : kernels) {
      timed.push_back(k.launcher);
      if (work) {
        us.emplace_back();
        for (int i = 0; i < 40; ++i)
          us.back().push_back(work(k.args[0]) * (1 + 0x1p-72 * static_cast<double>(random::mix(noise += random::kGamma))));
        continue;
      }
      const double median = 10 * static_cast<double>(us.size() + 1);
      us.push_back({median - 1, median, median + 1});
    }
    return us;
  }
  std::vector<SteadyTimes> steady_us(const std::vector<TimedLaunch>& kernels, const std::vector<double>& about_us) override {
    std::vector<SteadyTimes> all;
    for (std::size_t i = 0; i < kernels.size(); ++i) all.push_back({{0.5 * about_us[i]}, 20, true});
    return all;
  }
  std::vector<LaunchedFunction> launched(const TimedLaunch& k, bool watched) override {
    (watched ? launched_watched : launched_alone).push_back(k.launcher);
    return {{.name = "rows_room::run", .registers = 40, .dynamic_shared = 64, .threads = 96, .blocks = 9, .occupancy = 0.5}};
  }
  // Kernel number i reads 1000·(i + 1) bytes and writes 10.
  std::vector<DramBytes> dram_bytes(const std::vector<TimedLaunch>& kernels, const std::vector<double>& about_s) override {
    if (!why_no_dram.empty()) throw std::runtime_error(why_no_dram);
    CHECK(about_s.size() == kernels.size());
    std::vector<DramBytes> all;
    for (std::size_t i = 0; i < kernels.size(); ++i) all.push_back({1000 * static_cast<double>(i + 1), 10});
    return all;
  }
};

struct BenchRows {
  bool sound = false;
  std::vector<Json> records;
  const Json& of(const std::string& kernel) const {
    for (const Json& j : records)
      if (j.at("kernel") == kernel) return j;
    throw std::runtime_error("no record of " + kernel);
  }
};

// The file of a side's records, while it is needed.
struct Side {
  std::string file;
  BenchOut out;
  explicit Side(const char* which)
      : file((std::filesystem::temp_directory_path() / ("assay_bench_" + std::to_string(::getpid()) + which)).string()) {
    out.json = std::make_unique<JsonLines>(file);
  }
  ~Side() { std::filesystem::remove(file); }
  std::vector<Json> records() {
    out.json.reset();
    std::vector<Json> all;
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) {
      all.push_back(Json::parse(text));
      CHECK(test::violation(test::schema(), all.back(), "") == "");
    }
    return all;
  }
};

BenchShape shape_of(const std::string& line) {
  const Repro parsed = parse_repro(line, op_shapes());
  return {.op = find_op(parsed.what.op), .c = parsed.what, .kernels = {}, .ladder = {}, .place = {}};
}

BenchRows timed(PretendedClock& machine, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings) {
  Side side("");
  BenchTimers timers;
  for (int i = 0; i < flags.processes; ++i) timers.sides[0].push_back(std::make_unique<LocalTimer>(machine));
  if (flags.dram) timers.counter = std::make_unique<LocalTimer>(machine);
  BenchRows outcome;
  outcome.sound = bench_times(timers, shape, flags, ceilings, side.out);
  outcome.records = side.records();
  return outcome;
}
BenchRows timed(PretendedClock& machine, const std::string& line, const BenchFlags& flags, const Ceilings& ceilings) {
  return timed(machine, shape_of(line), flags, ceilings);
}

// Two sides that take turns on one machine, whose launches cost what their rows do.
struct BothSides {
  Side now{"_now"}, base{"_base"};
  bool sound = false;
  BothSides(PretendedClock& machine, const BenchShape& shape, BenchFlags flags) {
    flags.ab = "this program";
    machine.work = [](const void* args) {
      return static_cast<double>(static_cast<const layernorm_residual::Args*>(args)->x.shape[0]);
    };
    const RunHead head{.version = "0", .commit = "0", .compiler = "0", .build = "0", .backend = "cuda", .device = "one"};
    now.out.start(head), base.out.start(head);
    BenchTimers timers;
    timers.other_out = &base.out;
    for (auto& side : timers.sides)
      for (int i = 0; i < flags.processes; ++i) side.push_back(std::make_unique<LocalTimer>(machine));
    sound = bench_times(timers, shape, flags, {.copy = 1e9, .matrix = {}}, now.out);
  }
};

}  // namespace

TEST_CASE("bench: a row's rates, shares and ratios") {
  PretendedClock machine;
  BenchFlags flags;
  const BenchRows o =
      timed(machine, "layernorm_residual f16 rows=9 cols=72 seed=1", flags, {.copy = 1e9, .matrix = {{f16, 1e9}}});
  CHECK(o.sound);
  REQUIRE(o.records.size() == 4);  // block_row, naive, unfused, warp_row: 10, 20, 30, 40 us
  const Json& naive = o.of("naive");
  CHECK(naive.at("time_us").at("median") == 20);
  const double bytes = naive.at("bytes").at("formula"), flops = naive.at("flops");
  CHECK(naive.at("rate_bytes_per_s").get<double>() == Approx(bytes / 20e-6));
  CHECK(naive.at("share_of_copy").get<double>() == Approx(bytes / 1e9 / 20e-6));
  CHECK(naive.at("share_of_matrix").get<double>() == Approx(flops / 1e9 / 20e-6));
  CHECK(naive.at("limit") == (bytes > flops ? "copy" : "matrix"));
  CHECK(naive.at("share_of_limit").get<double>() == Approx(std::max(bytes, flops) / 1e9 / 20e-6));
  CHECK(naive.at("speedup").get<double>() == Approx(1.5));
  CHECK(o.of("unfused").at("speedups").at("unfused") == 1);
  CHECK(o.of("block_row").at("speedups").size() == 1);
  CHECK(naive.at("margin_after_timing") <= 1);
  // Two processes: the samples of each, what it computes after them judged in both.
  flags.processes = 2;
  const Json two =
      timed(machine, "layernorm_residual f16 rows=9 cols=72 seed=1", flags, {.copy = 1e15, .matrix = {}}).of("naive");
  CHECK(two.at("samples_us") == Json::array({{19.0, 20.0, 21.0}, {19.0, 20.0, 21.0}}));
  CHECK(two.at("time_us").at("samples") == 6);
  CHECK(two.at("time_us").at("mean") == 20);
  CHECK_FALSE(two.at("time_us").contains("p99"));
  CHECK(two.at("steady_us").at("median") == 10);
  CHECK(two.at("processes_judged") == 2);
  CHECK(two.at("speedup_intervals").at("unfused").at(0) <= 1.5);
  CHECK(two.at("speedup_intervals").at("unfused").at(1) >= 1.5);
  CHECK(two.at("score").get<double>() == Approx(1 / (1 + 20.0 / 30)).epsilon(1e-3));  // the limit is next to nothing
  CHECK(two.at("device_bytes").at("peak").get<double>() >= 2.0 * (3 * 9 + 2) * 72);
}

TEST_CASE("bench: bytes by the counters and the functions launched go with a row; counters that fail leave it as it is") {
  PretendedClock machine;
  BenchFlags flags;
  flags.processes = 2, flags.dram = true;
  const std::string line = "layernorm_residual f16 rows=9 cols=72 seed=1";
  const BenchRows o = timed(machine, line, flags, {.copy = 1e15, .matrix = {}});
  CHECK(o.sound);
  REQUIRE(o.records.size() == 4);
  CHECK(o.of("block_row").at("dram") == Json({{"read_bytes", 1000}, {"written_bytes", 10}}));
  CHECK(o.of("unfused").at("dram").at("read_bytes") == 3000);
  const Json& function = o.of("naive").at("resources").at(0);
  CHECK(function.at("function") == "rows_room::run");
  CHECK(function.at("registers") == 40);
  CHECK(function.at("dynamic_shared") == 64);
  CHECK(function.at("occupancy") == 0.5);
  CHECK(machine.launched_alone.size() == 4);  // in the first process alone, and in none that a profiler watches
  CHECK(machine.launched_watched.empty());
  CHECK(machine.timed.size() == 8);  // the process that counts takes no times
  machine.why_no_dram = "the driver says no";
  const BenchRows without = timed(machine, line, flags, {.copy = 1e15, .matrix = {}});
  CHECK(without.sound);
  REQUIRE(without.records.size() == 4);
  CHECK_FALSE(without.of("naive").contains("dram"));
  CHECK(without.of("naive").at("time_us").at("median") == 20);
  flags.dram = false, machine.why_no_dram.clear();
  CHECK_FALSE(timed(machine, line, flags, {.copy = 1e15, .matrix = {}}).of("naive").contains("dram"));
}

TEST_CASE("bench: --once launches each kernel on the first row that it is quick on") {
  PretendedClock machine;
  machine.slow = find_kernel("layernorm_residual", "naive")->on_simt;
  std::vector<OpShape> shapes;
  for (const Op& op : ops()) shapes.push_back(op.shape());
  std::vector<BenchShape> rows;
  for (const char* line : {"layernorm_residual f16 rows=9 cols=72 seed=1", "layernorm_residual f32 rows=3 cols=72 seed=1"}) {
    const Case c = parse_repro(line, shapes).what;
    rows.push_back({find_op(c.op), c, {}});
  }
  rows[0].kernels = {"naive", "block_row"};  // this row is not for warp_row
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("assay_once_" + std::to_string(::getpid()));
  {
    BenchOut out;
    out.json = std::make_unique<JsonLines>(file.string());
    BenchFlags flags;
    flags.run.selection.no_vendor = true;
    bench_once(machine, rows, flags, out);
  }
  std::ifstream in(file);
  std::vector<Json> records;
  for (std::string text; std::getline(in, text);) records.push_back(Json::parse(text));
  std::filesystem::remove(file);
  REQUIRE(records.size() == 4);
  for (const Json& j : records) CHECK(test::violation(test::schema(), j, "") == "");
  const auto says = [&](std::size_t i, const char* record, const char* kernel, const char* dtype) {
    CHECK(records[i].at("record") == record);
    CHECK(records[i].at("kernel") == kernel);
    CHECK(records[i].at("dtype") == dtype);
  };
  says(0, "launched", "block_row", "f16");
  says(1, "launched", "unfused", "f16");
  says(2, "launched", "warp_row", "f32");
  says(3, "left_out", "naive", "f32");  // too slow on both
  CHECK(records[0].at("functions").size() == 1);
  CHECK(machine.launched_watched.size() == 3);
  CHECK(machine.timed.empty());
}

TEST_CASE("bench: the score, and rates that cannot be") {
  CHECK(bench_score(20, 20, 10) == 0.5);
  CHECK(bench_score(10, 20, 10) == 1);
  CHECK(bench_score(9, 20, 10) == 1);
  CHECK(std::isnan(bench_score(9, 10, 10)));
  const Cost cost{.flops = 1e9, .bytes_read = 1e6, .bytes_written = 1e9, .unfused_bytes = 0};
  CHECK(bench_impossible(cost, 1, 1.1e12, 1.1e15) == "");
  CHECK(bench_impossible(cost, 1, 0, 0) == "");
  CHECK(bench_impossible(cost, 1, 0.9e12, 1.1e15).starts_with("IMPOSSIBLE"));
  CHECK(bench_impossible(cost, 1, 1.1e12, 0.9e15).starts_with("IMPOSSIBLE"));
  PretendedClock machine;
  BenchFlags flags;
  const BenchRows rows = timed(machine, "layernorm_residual f16 rows=9 cols=72 seed=1", flags,
                               {.copy = 1e9, .matrix = {}, .peak_bytes = 1, .peak_flops = {}});
  CHECK_FALSE(rows.sound);
  CHECK(rows.of("naive").at("record") == "left_out");
}

TEST_CASE("bench: throttle reasons are those that slow a kernel down") {
  CHECK(throttle_reasons(0x1 | 0x2 | 0x10 | 0x100).empty());
  CHECK(throttle_reasons(0x4 | 0x20) == std::vector<std::string>{"software power cap", "software thermal slowdown"});
  DeviceMonitor nowhere("ffff:ff:ff.f");
  CHECK(nowhere.missing() != "");
  nowhere.start();
  CHECK_FALSE(nowhere.stop());
}

TEST_CASE("bench: the ceiling that allows the longer time is the limit; without a library there is one") {
  PretendedClock machine;
  BenchFlags flags;
  flags.baseline = "vendor";
  flags.run.selection.kernels = {"naive"};
  const std::string line = "linear f32 tokens=5 hidden=64 out=9 seed=1";
  const BenchRows slow = timed(machine, line, flags, {.copy = 1e15, .matrix = {{f32, 1e9}, {f16, 1}}});
  const Json& naive = slow.of("naive");
  CHECK(slow.of("unfused").at("record") == "bench");  // always beside what was asked for
  CHECK(naive.at("limit") == "matrix");
  CHECK(naive.at("share_of_limit") == naive.at("share_of_matrix"));
  CHECK(naive.at("speedup").is_null());  // no library on this machine
  CHECK(naive.at("speedups").contains("unfused"));
  const Json none = timed(machine, line, flags, {.copy = 1e9, .matrix = {{f32, 0}}}).of("naive");
  CHECK(none.at("limit") == "copy");
  CHECK(none.at("matrix_rate_flops_per_s").is_null());
  CHECK(none.at("share_of_matrix").is_null());
}

TEST_CASE("bench: what cannot run is left out by name, what is wrong is said") {
  PretendedClock machine;
  BenchFlags flags;
  const BenchRows wide = timed(machine, "layernorm_residual f16 rows=2 cols=9000 seed=1", flags, {.copy = 1e9, .matrix = {}});
  CHECK(wide.sound);
  CHECK(wide.of("warp_row").at("record") == "left_out");
  CHECK(wide.of("warp_row").at("reason") != "");
  CHECK(wide.of("block_row").at("record") == "bench");
  machine.slow = find_kernel("layernorm_residual", "naive")->on_simt;
  const BenchRows patient = timed(machine, "layernorm_residual f16 rows=2 cols=72 seed=1", flags, {.copy = 1e9, .matrix = {}});
  CHECK(patient.sound);
  CHECK(patient.of("naive").at("record") == "left_out");
  CHECK(patient.of("naive").at("reason").get<std::string>().find("times the fastest") != std::string::npos);
  CHECK(patient.of("unfused").at("record") == "bench");
  machine.slow = nullptr;
  machine.computes = false;
  const BenchRows wrong = timed(machine, "layernorm_residual f16 rows=2 cols=72 seed=1", flags, {.copy = 1e9, .matrix = {}});
  CHECK_FALSE(wrong.sound);
  CHECK(wrong.of("naive").at("margin_after_timing") == "inf");
}

TEST_CASE("bench: a row's place in a suite and a kernel's in the ladder") {
  PretendedClock machine;
  BenchFlags flags;
  BenchShape shape = shape_of("layernorm_residual f16 rows=2 cols=9000 seed=1");
  const Json none = timed(machine, shape, flags, {.copy = 1e9, .matrix = {}}).of("naive");
  for (const char* key : {"suite", "step", "planted"}) CHECK_FALSE(none.contains(key));
  shape.ladder = {"naive", "warp_row", "block_row"};
  shape.place = RowOfSuite{"a-suite", "a table", "a label", {{"ms", 0.5}, {"device", "T4"}}};
  const BenchRows rows = timed(machine, shape, flags, {.copy = 1e9, .matrix = {}});
  CHECK(rows.of("naive").at("step") == 0);
  CHECK(rows.of("block_row").at("step") == 2);
  CHECK_FALSE(rows.of("unfused").contains("step"));
  const Json place{
      {"name", "a-suite"}, {"table", "a table"}, {"label", "a label"}, {"reported", {{"ms", 0.5}, {"device", "T4"}}}};
  CHECK(rows.of("naive").at("suite") == place);
  REQUIRE(rows.of("warp_row").at("record") == "left_out");
  CHECK(rows.of("warp_row").at("suite") == place);
}

TEST_CASE("bench: a case with more rows by a share") {
  const auto longer = [](const std::string& line, double percent) {
    const BenchShape shape = shape_of(line);
    std::vector<std::string> all;
    for (const Case& c : bench_longer(*shape.op, shape.c, percent)) all.push_back(summary(c, shape.op->shape()));
    return all;
  };
  using Texts = std::vector<std::string>;
  CHECK(longer("softmax f16 rows=100 cols=64 seed=1", 3) == Texts{"rows=103 cols=64"});
  CHECK(longer("softmax f16 rows=1000 cols=64 seed=1", 3.01) == Texts{"rows=1031 cols=64"});
  CHECK(longer("softmax f16 rows=23 cols=64 seed=1", 3) == Texts{"rows=24 cols=64"});
  CHECK(longer("softmax f16 rows=22 cols=64 seed=1", 3).empty());  // one more is 4.55 %
  CHECK(longer("softmax f16 rows=1 cols=64 seed=1", 100) == Texts{"rows=2 cols=64"});
  // Too few sequences: heads, those that share keys together; then queries.
  CHECK(longer("rope f16 batch=1 seq_q=500 heads=8 kv_heads=2 head_dim=8 seed=1", 50) ==
        Texts{"batch=1 seq_q=500 heads=12 kv_heads=3 head_dim=8", "batch=1 seq_q=750 heads=8 kv_heads=2 head_dim=8"});
}

TEST_CASE("bench --plant: this side times more rows under the row's name and is judged by the row") {
  PretendedClock machine;
  BenchFlags flags;
  flags.plant = 5, flags.processes = 2;
  const BenchShape shape = shape_of("layernorm_residual f16 rows=100 cols=72 seed=1");
  BothSides both(machine, shape, flags);
  CHECK(both.sound);
  const std::vector<Json> now = both.now.records(), base = both.base.records();
  REQUIRE(now.size() == 5);
  REQUIRE(base.size() == 5);
  for (std::size_t i = 1; i < 5; ++i) {
    CHECK(now[i].at("kernel") == base[i].at("kernel"));
    CHECK(now[i].at("shape") == "rows=100 cols=72");
    CHECK(now[i].at("planted") == 5);
    CHECK_FALSE(base[i].contains("planted"));
    CHECK(now[i].at("time_us").at("median").get<double>() == Approx(105.2).epsilon(2e-3));
    CHECK(base[i].at("time_us").at("median").get<double>() == Approx(100.2).epsilon(2e-3));
    CHECK(now[i].at("margin_after_timing") == base[i].at("margin_after_timing"));
    // Outputs are judged in one process of each side.
    CHECK(now[i].at("processes_judged") == 1);
    CHECK(base[i].at("processes_judged") == 1);
  }
  machine.computes = false;
  BothSides wrong(machine, shape, flags);
  CHECK_FALSE(wrong.sound);
  CHECK(wrong.now.records().at(1).at("margin_after_timing") == "inf");
  machine.computes = true;
  flags.plant = 3;
  BothSides few(machine, shape_of("layernorm_residual f16 rows=9 cols=72 seed=1"), flags);
  CHECK(few.sound);
  const std::vector<Json> left = few.now.records();
  REQUIRE(left.size() == 5);
  CHECK(left[1].at("record") == "left_out");
  CHECK(left[1].at("reason").get<std::string>().find("3 %") != std::string::npos);
  CHECK(few.base.records().size() == 1);
  // What one side finds too slow has no row on either.
  flags.plant = 0, flags.processes = 6;
  machine.slow = find_kernel("layernorm_residual", "naive")->on_simt, machine.slow_runs = 4;
  BothSides slow(machine, shape, flags);
  for (Side* side : {&slow.base, &slow.now})
    for (const Json& j : side->records())
      if (j.value("kernel", "") == "naive") CHECK(j.at("record") == "left_out");
}

TEST_CASE("bench --ab: one build against itself is SAME, a planted share is SLOWER") {
  PretendedClock machine;
  const BenchShape shape = shape_of("layernorm_residual f16 rows=100 cols=72 seed=1");
  for (const double plant : {0.0, 3.0, 5.0, 10.0}) {
    BenchFlags flags;
    flags.plant = plant;
    BothSides both(machine, shape, flags);
    both.now.records(), both.base.records();
    const RecordFile base = read_records(both.base.file), now = read_records(both.now.file);
    const Difference d = difference(base, now, {});
    REQUIRE(d.times.size() == 4);
    CHECK(d.regressions.empty());
    CHECK(d.count(plant > 0 ? Change::slower : Change::same) == 4);
    for (const TimeChange& t : d.times) CHECK(100 * (t.ratio - 1) == Approx(plant).margin(0.15));
  }
}

}  // namespace assay
