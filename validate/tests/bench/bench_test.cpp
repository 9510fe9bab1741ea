// SPDX-License-Identifier: Apache-2.0
// bench's rows, on a fake GPU that computes on simt and has a fake clock.
#include <cmath>

#include "pretended_clock.hpp"
#include "validate/records/record_file.hpp"
#include "validate/records/regression.hpp"

namespace assay {

using namespace test;

TEST_CASE("bench: rates, shares and ratios of a row") {
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
  // With two processes the record has the samples of both, and both outputs are judged.
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
  CHECK(two.at("score").get<double>() == Approx(1 / (1 + 20.0 / 30)).epsilon(1e-3));  // the limit is nearly 0
  CHECK(two.at("device_bytes").at("peak").get<double>() >= 2.0 * (3 * 9 + 2) * 72);
}

TEST_CASE("bench: a row records DRAM bytes and functions; failing counters only leave out the bytes") {
  PretendedClock machine;
  BenchFlags flags;
  flags.processes = 2;
  flags.dram = true;
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
  CHECK(machine.launched_alone.size() == 4);  // only in the first process, and not in profiler mode
  CHECK(machine.launched_watched.empty());
  CHECK(machine.timed.size() == 8);  // 2 processes × 4 kernels: the counting process times none
  machine.why_no_dram = "the driver says no";
  const BenchRows without = timed(machine, line, flags, {.copy = 1e15, .matrix = {}});
  CHECK(without.sound);
  REQUIRE(without.records.size() == 4);
  CHECK_FALSE(without.of("naive").contains("dram"));
  CHECK(without.of("naive").at("time_us").at("median") == 20);
  flags.dram = false;
  machine.why_no_dram.clear();
  CHECK_FALSE(timed(machine, line, flags, {.copy = 1e15, .matrix = {}}).of("naive").contains("dram"));
}

TEST_CASE("bench --copy: a copy of as many bytes takes turns with the kernels, and each kernel's ratio is to it") {
  PretendedClock machine;
  BenchFlags flags;
  flags.processes = 2;
  flags.copy = true;
  const std::string line = "layernorm_residual f32 rows=180 cols=1000 seed=1";
  const Ceilings by_memory{.copy = 1e9, .matrix = {}};
  const BenchRows o = timed(machine, line, flags, by_memory);
  CHECK(o.sound);
  REQUIRE(o.records.size() == 4);  // block_row, naive, unfused, warp_row and the copy: 10, 20, 30, 40, 50 us
  REQUIRE(machine.timed.size() == 2 * 5);
  for (const std::size_t process : {0, 1}) CHECK(machine.timed[5 * process + 4] == machine.copier());
  const auto bytes = o.of("naive").at("bytes").at("formula").get<std::size_t>();
  REQUIRE(machine.copies.size() == 2);
  REQUIRE(machine.copies[0].size() > 1);  // places
  for (const std::size_t each : machine.copies[0]) CHECK((each % 16 == 0 && 2 * each <= bytes && bytes < 2 * each + 32));
  CHECK(machine.held == 0);
  for (const auto& [kernel, us] : {std::pair{"block_row", 10.0}, {"naive", 20.0}, {"unfused", 30.0}, {"warp_row", 40.0}}) {
    const Json& j = o.of(kernel);
    CAPTURE(kernel);
    CHECK(j.at("time_us").at("median") == us);
    CHECK(j.at("copy_us").at("median") == 50);
    CHECK(j.at("copy_us").at("samples") == 6);
    CHECK(j.at("share_of_same_copy").get<double>() == Approx(50 / us));
    CHECK(j.at("steady_us").at("median") == us / 2);  // by kernel, as without a copy
  }
  CHECK(o.shown.find("2.50x same copy") != std::string::npos);
  CHECK(o.shown.find("device copy            50.00 µs") != std::string::npos);
  // No copy: not asked for, less than 1 MB, or limited by the matrix rate.
  const auto has_none = [&](const std::string& row, const Ceilings& ceilings) {
    const BenchRows none = timed(machine, row, flags, ceilings);
    return none.sound && none.shown.find("device copy") == std::string::npos &&
           none.shown.find("same copy") == std::string::npos && !none.of("naive").contains("copy_us") &&
           !none.of("naive").contains("share_of_same_copy");
  };
  CHECK(has_none("layernorm_residual f32 rows=9 cols=72 seed=1", by_memory));
  CHECK(has_none(line, {.copy = 1e9, .matrix = {{f32, 1e3}}}));
  flags.copy = false;
  CHECK(has_none(line, by_memory));
  CHECK(machine.copies.size() == 2);
}

TEST_CASE("bench --copy: without memory for the copy the kernels are timed without it") {
  PretendedClock machine;
  BenchFlags flags;
  flags.processes = 1;
  flags.copy = true;
  const auto copied = [&] {
    const BenchRows o = timed(machine, "layernorm_residual f32 rows=90 cols=1000 seed=1", flags, {.copy = 1e9, .matrix = {}});
    CHECK(o.sound);
    CHECK(o.of("naive").at("time_us").at("median") == 20);
    CHECK(machine.held == 0);
    const bool left_out = o.shown.find("device copy        left out: no memory for it") != std::string::npos;
    CHECK(left_out != o.of("naive").contains("copy_us"));
    return !left_out;
  };
  machine.free = std::size_t{2} << 30;
  CHECK(copied());
  machine.free = std::size_t{1} << 30;  // it would leave less than 1 GiB
  CHECK_FALSE(copied());
  machine.free.reset();
  CHECK(copied());
  machine.no_room_for = "copy";
  CHECK_FALSE(copied());
}

TEST_CASE("bench: a timing process is told the copy's bytes and the cache's state, and answers with its times") {
  const auto program = std::filesystem::temp_directory_path() / ("assay_timer_" + std::to_string(::getpid()));
  std::ofstream(program) << R"(#!/bin/sh
echo '{"timer":1,"commit":"c","build":"b"}'
while read -r order; do
  case $order in *'"copy_bytes":4096,"clean":true,'*) copy=',"copy_us":[3.0,5.0]' ;; *) copy= ;; esac
  echo '{"kernels":[{"kernel":"naive","left_out":"","failed":false,"cold_us":[1.0],"steady_us":[],"launches":1,"graph":false,' \
    '"tensor_bytes":1,"workspace_bytes":0,"other_bytes":0,"code":""'"$copy}]}"
done
)";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ChildTimer timer(program.string(), "cuda", 60);
  std::filesystem::remove(program);
  const BenchShape shape = shape_of("layernorm_residual f16 rows=1 cols=8 seed=1");
  TimingOrder order{.op = shape.op, .c = shape.c, .kernels = {"naive"}};
  const SharedMemory inputs(4096);
  CHECK(timer.time(order, inputs, {}).at(0).copy_us.empty());
  order.copy_bytes = 4096;
  order.l2 = L2::clean;
  CHECK(timer.time(order, inputs, {}).at(0).copy_us == std::vector<double>{3, 5});
}

TEST_CASE("bench --clean: kernels are timed from a clean cache, and the records say so") {
  PretendedClock machine;
  BenchFlags flags;
  const std::string line = "layernorm_residual f32 rows=9 cols=72 seed=1";
  const Ceilings ceilings{.copy = 1e9, .matrix = {}};
  CHECK((timed(machine, line, flags, ceilings).of("naive").at("l2") == "flushed" && machine.clean == 0));
  flags.l2 = L2::clean;
  CHECK(timed(machine, line, flags, ceilings).of("naive").at("l2") == "clean");
  CHECK(machine.clean == flags.processes);
}

TEST_CASE("bench: records have a row's place in a suite and a kernel's step in the ladder") {
  PretendedClock machine;
  BenchFlags flags;
  BenchShape shape = shape_of("layernorm_residual f16 rows=2 cols=9000 seed=1");
  const Json none = timed(machine, shape, flags, {.copy = 1e9, .matrix = {}}).of("naive");
  for (const char* key : {"suite", "step"}) CHECK_FALSE(none.contains(key));
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

TEST_CASE("bench --ab: outputs are judged once per build, and a kernel left out of one build is left out of both") {
  PretendedClock machine;
  BenchFlags flags;
  flags.processes = 2;
  const BenchShape shape = shape_of("layernorm_residual f16 rows=100 cols=72 seed=1");
  BothSides both(machine, shape, flags);
  CHECK(both.sound);
  const std::vector<Json> now = both.now.records(), base = both.base.records();
  REQUIRE(now.size() == 5);
  REQUIRE(base.size() == 5);
  for (std::size_t i = 1; i < 5; ++i) {
    CHECK(now[i].at("kernel") == base[i].at("kernel"));
    CHECK(now[i].at("shape") == "rows=100 cols=72");
    for (const Json& j : {now[i], base[i]}) {
      CHECK(j.at("time_us").at("median").get<double>() == Approx(100.2).epsilon(2e-3));
      CHECK(j.at("margin_after_timing") == now[i].at("margin_after_timing"));
      CHECK(j.at("processes_judged") == 1);
    }
  }
  // Each of 4 kernels: 4 estimates in each of 2 processes, and one judged launch.
  CHECK(machine.runs == std::map<double, int>{{100, 2 * 4 * 4 + 4}});
  machine.computes = false;
  BothSides wrong(machine, shape, flags);
  CHECK_FALSE(wrong.sound);
  CHECK(wrong.now.records().at(1).at("margin_after_timing") == "inf");
  CHECK(wrong.base.records().at(1).at("margin_after_timing") == base[1].at("margin_after_timing"));
  machine.computes = true;
  machine.slow = find_kernel("layernorm_residual", "naive")->on_simt;
  BothSides slow(machine, shape, flags);
  for (Side* side : {&slow.base, &slow.now})
    for (const Json& j : side->records())
      if (j.value("kernel", "") == "naive") CHECK(j.at("record") == "left_out");
}

TEST_CASE("bench --ab: a build against itself is SAME, a slower build is SLOWER") {
  const BenchShape shape = shape_of("layernorm_residual f16 rows=100 cols=72 seed=1");
  for (const double percent : {0.0, 3.0, 5.0, 10.0}) {
    PretendedClock machine;
    BothSides both(machine, shape, {}, 1 + percent / 100);
    both.now.records();
    both.base.records();
    const RecordFile base = read_records(both.base.file), now = read_records(both.now.file);
    const Difference d = difference(base, now, {});
    REQUIRE(d.times.size() == 4);
    CHECK(d.regressions.empty());
    CHECK(d.count(percent > 0 ? Change::slower : Change::same) == 4);
    for (const TimeChange& t : d.times) CHECK(100 * (t.ratio - 1) == Approx(percent).margin(0.15));
  }
}

TEST_CASE("bench --once: launches each kernel on the first row on which it is quick") {
  PretendedClock machine;
  machine.slow = find_kernel("layernorm_residual", "naive")->on_simt;
  std::vector<OpShape> shapes;
  for (const Op& op : ops()) shapes.push_back(op.shape());
  std::vector<BenchShape> rows;
  for (const char* line : {"layernorm_residual f16 rows=9 cols=72 seed=1", "layernorm_residual f32 rows=3 cols=72 seed=1"}) {
    const Case c = parse_repro(line, shapes).what;
    rows.push_back({find_op(c.op), c, kKernels});
  }
  rows[0].kernels = {"naive", "block_row"};  // so warp_row waits for the second row
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("assay_once_" + std::to_string(::getpid()));
  {
    BenchOut out;
    out.json = std::make_unique<JsonLines>(file.string());
    BenchFlags flags;
    flags.selection.no_vendor = true;
    printed_by([&] { bench_once(machine, rows, flags, out, false); });
  }
  std::ifstream in(file);
  std::vector<Json> records;
  for (std::string text; std::getline(in, text);) records.push_back(Json::parse(text));
  std::filesystem::remove(file);
  REQUIRE(records.size() == 4);
  for (const Json& j : records) CHECK(test::violation(j.dump()) == "");
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

TEST_CASE("bench: the score, and impossible rates") {
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

TEST_CASE("bench: the ceiling with the longer time is the limit; without a matrix rate the copy rate is") {
  PretendedClock machine;
  BenchFlags flags;
  flags.baseline = "vendor";
  flags.selection.kernels = {"naive"};
  const std::string line = "linear f32 tokens=5 hidden=64 out=9 seed=1";
  const BenchRows slow = timed(machine, line, flags, {.copy = 1e15, .matrix = {{f32, 1e9}, {f16, 1}}});
  const Json& naive = slow.of("naive");
  CHECK(slow.of("unfused").at("record") == "bench");  // references are timed even if not asked for
  CHECK(naive.at("limit") == "matrix");
  CHECK(naive.at("share_of_limit") == naive.at("share_of_matrix"));
  CHECK_FALSE(naive.contains("speedup"));  // no library on this machine
  CHECK(naive.at("speedups").contains("unfused"));
  const Json none = timed(machine, line, flags, {.copy = 1e9, .matrix = {{f32, 0}}}).of("naive");
  CHECK(none.at("limit") == "copy");
  CHECK_FALSE(none.contains("matrix_rate_flops_per_s"));
  CHECK_FALSE(none.contains("share_of_matrix"));
}

TEST_CASE("bench: --baseline none times only the kernels that are asked for") {
  PretendedClock machine;
  BenchFlags flags;
  flags.baseline = "none";
  flags.selection.kernels = {"naive"};
  const BenchRows rows = timed(machine, "linear f32 tokens=5 hidden=64 out=9 seed=1", flags, {.copy = 1e9, .matrix = {}});
  REQUIRE(rows.records.size() == 1);
  CHECK(rows.of("naive").at("speedups").empty());
}

TEST_CASE("bench: kernels that cannot run are left out with a reason, wrong outputs are printed") {
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
  CHECK(patient.of("naive").at("reason") == "100.0 ms, 5000 times the fastest");
  CHECK(patient.of("unfused").at("record") == "bench");
  machine.slow = nullptr;
  machine.computes = false;
  const BenchRows wrong = timed(machine, "layernorm_residual f16 rows=2 cols=72 seed=1", flags, {.copy = 1e9, .matrix = {}});
  CHECK_FALSE(wrong.sound);
  CHECK(wrong.of("naive").at("margin_after_timing") == "inf");
  CHECK(wrong.shown.find("  WRONG: err/bound inf\n") != std::string::npos);
}

TEST_CASE("bench: a kernel is too slow above 50 times the fastest and above 20 ms") {
  PretendedClock machine;
  machine.slow = find_kernel("layernorm_residual", "naive")->on_simt;
  const auto of_slow = [&](double fastest_s, double slow_s) {
    machine.launch_s = fastest_s;
    machine.slow_s = slow_s;
    return timed(machine, "layernorm_residual f16 rows=2 cols=72 seed=1", {}, {.copy = 1e9, .matrix = {}}).of("naive");
  };
  CHECK(of_slow(20e-6, 19e-3).at("record") == "bench");
  CHECK(of_slow(20e-6, 21e-3).at("reason") == "21.0 ms, 1050 times the fastest");
  CHECK(of_slow(2e-3, 99e-3).at("record") == "bench");
  CHECK(of_slow(2e-3, 102e-3).at("reason") == "102.0 ms, 51 times the fastest");
}

}  // namespace assay
