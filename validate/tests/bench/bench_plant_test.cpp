// SPDX-License-Identifier: Apache-2.0
// What a row's record says of its suite and ladder; slowdowns of known size, and what compare makes of them.
#include "pretended_clock.hpp"
#include "validate/records/record_file.hpp"
#include "validate/records/regression.hpp"

namespace assay {

using namespace test;

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
  // Four kernels: four estimates in each of two processes a side; one judged launch a side, at the row's own size.
  CHECK(machine.runs == std::map<double, int>{{105, 2 * 4 * 4}, {100, 2 * 4 * 4 + 2 * 4}});
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
