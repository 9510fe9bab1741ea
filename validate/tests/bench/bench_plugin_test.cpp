// SPDX-License-Identifier: Apache-2.0
// bench --plugin, on the fake GPU: a plugin's kernels are timed in turns with ours, judged and recorded.
#include "pretended_clock.hpp"
#include "validate/worker/plugin.hpp"

using namespace assay;
using test::Json;

namespace {

// Ours, and those of the plugin hostile.so, as `bench --plugin` has them; the built-in ones again at the end.
struct BesideOurs {
  Loaded loaded{.flags = "--plugin ./hostile.so", .command = {}, .backend = "cuda", .device = "", .not_checked = {}};
  BesideOurs() {
    static const std::vector<Kernel> theirs = [] {  // a process opens it once
      use_plugin(ASSAY_HOSTILE_PLUGIN);
      return std::vector<Kernel>(kernels().begin(), kernels().end());
    }();
    std::vector<Kernel> all(built_in_kernels().begin(), built_in_kernels().end());
    for (Kernel k : theirs) {
      k.loaded = &loaded;
      all.push_back(k);
    }
    use_kernels(std::move(all));
  }
  ~BesideOurs() { use_kernels({}); }
  BesideOurs(const BesideOurs&) = delete;
  BesideOurs& operator=(const BesideOurs&) = delete;
};

// Of the kernels that each of a side's timers was asked for.
class Listening final : public RowTimer {
 public:
  Listening(Backend& backend, std::vector<std::vector<std::string>>& asked) : timer_(backend), asked_(asked) {}
  std::vector<KernelTimes> time(const TimingOrder& o, const SharedMemory& inputs, const JudgeOutputs& judge) override {
    asked_.push_back(o.kernels);
    return timer_.time(o, inputs, judge);
  }

 private:
  LocalTimer timer_;
  std::vector<std::vector<std::string>>& asked_;
};

struct Rows {
  bool sound = false;
  std::vector<std::vector<std::string>> asked;
  std::map<std::string, Json> of;  // by kernel
  std::string shown;
};
Rows timed_beside(test::PretendedClock& machine, const BenchFlags& flags) {
  Rows rows;
  test::Side side("");
  BenchTimers timers;
  for (int i = 0; i < flags.processes; ++i)
    for (auto& one : timers.sides) one.push_back(std::make_unique<Listening>(machine, rows.asked));
  const BenchShape shape = test::shape_of("softmax f32 rows=9 cols=72 seed=1");
  rows.shown = test::printed_by([&] { rows.sound = bench_times(timers, shape, flags, {.copy = 1e9, .matrix = {}}, side.out); });
  for (const Json& j : side.records()) rows.of[j.at("kernel")] = j;
  return rows;
}

}  // namespace

TEST_CASE("bench --plugin: its kernels are timed among ours, in processes of their own that take turns with ours") {
  const BesideOurs beside;
  test::PretendedClock machine;
  BenchFlags flags;
  flags.plugin = "./hostile.so";
  flags.processes = 2;
  flags.selection.kernels = {"warp_row", "sound", "uses_workspace", "returns_an_error", "takes_nothing"};
  flags.selection.no_vendor = true;  // which a build for a GPU would time beside these
  const auto [sound, asked, of, shown] = timed_beside(machine, flags);
  const std::vector<std::string> ours{"unfused", "warp_row"},
      theirs{"sound", "returns_an_error", "uses_workspace", "takes_nothing", "unfused", "warp_row"};
  const std::vector<std::string> still{"sound", "uses_workspace", "unfused", "warp_row"};
  CHECK(asked == std::vector<std::vector<std::string>>{ours, theirs, still, ours});
  CHECK_FALSE(sound);  // one returned an error
  REQUIRE(of.size() == 6);
  for (const char* kernel : {"sound", "uses_workspace", "warp_row"}) {
    CAPTURE(kernel);
    CHECK(of.at(kernel).at("record") == "bench");
    CHECK(of.at(kernel).at("margin_after_timing").get<double>() < 1);
    CHECK(of.at(kernel).at("processes") == 2);
    CHECK(of.at(kernel).at("processes_judged") == 2);
    CHECK(of.at(kernel).at("speedups").contains("unfused"));
  }
  CHECK(of.at("uses_workspace").at("device_bytes").at("workspace") == 72);
  CHECK(of.at("sound").at("device_bytes").at("workspace") == 0);
  CHECK(of.at("sound").at("loaded") == "--plugin ./hostile.so");
  CHECK_FALSE(of.at("warp_row").contains("loaded"));
  CHECK(of.at("takes_nothing").at("reason") == "takes nothing");
  CHECK(of.at("returns_an_error").at("reason") == "FAILED: run() returned the error 700");
  CHECK(shown.find("sound ") != std::string::npos);
}

TEST_CASE("bench --plugin: a kernel that cannot be prepared is left out alone") {
  const BesideOurs beside;
  test::PretendedClock machine;
  BenchFlags flags;
  flags.plugin = "./hostile.so";
  flags.selection.kernels = {"throws_early", "asks_for_all", "asks_for_more", "finds_no_memory", "uses_workspace"};
  flags.selection.no_vendor = true;  // which a build for a GPU would time beside these
  const auto [sound, asked, of, shown] = timed_beside(machine, flags);
  CHECK(of.at("throws_early").at("reason") == "FAILED: supports() threw: too early");
  CHECK(of.at("finds_no_memory").at("reason") == "FAILED: std::bad_alloc");
  CHECK(of.at("asks_for_all").at("reason") == "no room is left");
  CHECK(of.at("asks_for_more").at("reason") == "needs 17592186044415 MiB of memory for 'workspace', which are not free");
  CHECK(of.at("uses_workspace").at("record") == "bench");
  CHECK(of.at("uses_workspace").at("device_bytes").at("workspace") == 72);
  CHECK(machine.held == 0);
}

namespace {

// A GPU that has rested, as it has when tensors were copied to it, is faster for the first 70 ms of work.
class PowerLimited final : public test::PretendedClock {
 public:
  void write(void* device, const void* host, std::size_t bytes) override {
    PretendedClock::write(device, host, bytes);
    worked_s_ = 0;
  }
  std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>& kernels, double seconds, L2) override {
    std::vector<std::vector<double>> us(kernels.size());
    for (TimedRounds rounds(seconds); rounds.next(now_s_);)
      for (auto& of_kernel : us) {
        const double launch_us = worked_s_ < 0.07 ? 2210 : 2540;
        worked_s_ += 1e-6 * launch_us;
        now_s_ += 1e-6 * launch_us;
        if (rounds.counts()) of_kernel.push_back(launch_us);
      }
    return us;
  }

 private:
  double worked_s_ = 0;
};

}  // namespace

TEST_CASE("bench --plugin: its processes time a GPU as warm as ours find it") {
  const BesideOurs beside;
  PowerLimited machine;
  BenchFlags flags;
  flags.plugin = "./hostile.so";
  flags.processes = 2;
  flags.selection.kernels = {"warp_row", "naive", "sound"};
  flags.selection.no_vendor = true;  // which a build for a GPU would time beside these
  const auto rows = timed_beside(machine, flags);
  for (const char* kernel : {"unfused", "naive", "warp_row", "sound"}) {
    CAPTURE(kernel);
    CHECK(rows.of.at(kernel).at("time_us").at("median") == 2540);
    CHECK(rows.of.at(kernel).at("time_us").at("min") == 2540);
  }
}

TEST_CASE("bench: a timing warms up for 0.1 s, and then takes its time within 30 and 1000 rounds") {
  const auto rounds_of = [](double round_s, double seconds) {
    double now_s = 7;
    int warm = 0, counted = 0;
    for (TimedRounds rounds(seconds); rounds.next(now_s); now_s += round_s) {
      CHECK(rounds.round() == warm + counted);
      ++(rounds.counts() ? counted : warm);
    }
    return std::pair(warm, counted);
  };
  CHECK(rounds_of(0.03, 0.05) == std::pair(4, 30));
  CHECK(rounds_of(0.5, 0.05) == std::pair(1, 30));
  CHECK(rounds_of(0x1p-10, 0x1p-4) == std::pair(103, 65));
  CHECK(rounds_of(0x1p-14, 1).second == 1000);
}

TEST_CASE("bench: a row for which memory does not suffice keeps none") {
  const Case c = test::shape_of("softmax f32 rows=9 cols=72 seed=1").c;
  const Op& op = *find_op(c.op);
  const SharedMemory inputs(pack(op, c).input_bytes);
  for (const int room : {0, 1, 2, 3}) {  // two places of two tensors are the fewest
    test::PretendedClock machine;
    machine.room = room;
    CHECK_THROWS_AS(LocalTimer(machine).time({.op = &op, .c = c, .kernels = {"warp_row"}}, inputs, {}), NoMemory);
    CHECK(machine.held == 0);
  }
}

TEST_CASE("bench --plugin: a wrong output is told, and rows have the plugin's ops alone") {
  const BesideOurs beside;
  test::PretendedClock machine;
  BenchFlags flags;
  flags.plugin = "./hostile.so";
  flags.selection.kernels = {"sound"};
  machine.computes = false;
  CHECK_FALSE(timed_beside(machine, flags).sound);
  machine.computes = true;
  CHECK(timed_beside(machine, flags).sound);
  flags.selection.kernels.clear();
  flags.shapes = {"rows=9 cols=72"};
  const std::vector<BenchShape> rows = bench_rows(flags, false);
  REQUIRE(rows.size() == 3);
  for (const BenchShape& row : rows) CHECK(row.op->name == "softmax");
  flags.selection.ops = {"layernorm"};
  CHECK_THROWS_WITH(bench_rows(flags, false), "--plugin ./hostile.so: it has no kernel of the ops that are asked for");
}
