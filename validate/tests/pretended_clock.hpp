// SPDX-License-Identifier: Apache-2.0
// A fake GPU that computes on simt and has a fake clock, and helpers that run bench's rows on it, for tests of bench.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "catch_shim.hpp"
#include "ops/layernorm_residual.hpp"
#include "schema_checker.hpp"
#include "shown.hpp"
#include "simt/machine.hpp"
#include "validate/base/error.hpp"
#include "validate/bench/bench.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/clock.hpp"

namespace assay::test {

// The timed kernel number i takes 10·(i + 1) us, unless `work` is set.  Only a launch advances the fake host clock.
class PretendedClock : public Backend, public Clock {
 public:
  bool computes = true;
  int room = -1;            // for so many allocations more; negative: for all
  std::string no_room_for;  // allocations with this label fail
  std::optional<std::size_t> free;
  int held = 0;             // allocations
  double launch_s = 20e-6;  // a launch on the host's clock, unless `work` is set
  Launcher slow = nullptr;  // this one takes slow_s
  double slow_s = 0.1;
  std::vector<Launcher> timed, launched_alone, launched_watched;
  std::string why_no_dram;
  int clean = 0;                                 // timings from a clean cache
  std::vector<std::vector<std::size_t>> copies;  // bytes of each copy that was timed, at each place
  // If set: the us that a launch on these arguments takes; timing then gives 40 samples with noise.
  std::function<double(const void* args)> work;
  std::uint64_t noise = 1;
  std::map<double, int> runs;  // untimed launches, by their work

  std::string_view name() const override { return "cuda"; }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    if (room == 0 || label == no_room_for || bytes >> 40) throw NoMemory("no room is left");
    void* const p = simt::allocate(bytes, offset, label);
    --room;
    ++held;
    return p;
  }
  void release(void* p) noexcept override {
    simt::release(p);
    --held;
  }
  std::optional<std::size_t> memory_free() override { return free; }
  bool checks_bounds() const override { return true; }
  void write(void* device, const void* host, std::size_t bytes) override {
    if (bytes) std::memcpy(device, host, bytes);
  }
  void read(void* host, const void* device, std::size_t bytes) override { write(host, device, bytes); }
  void run(Launcher launch_it, const void* args, void* workspace, const RunOptions&) override {
    if (work) ++runs[work(args)];
    simt::configure({});
    simt::reset_counts();
    now_s_ += launch_it == slow ? slow_s : work ? 1e-6 * work(args) : launch_s;
    if (computes) launch_it(args, {.stream = nullptr, .workspace = workspace});
  }
  Launcher launcher(const Kernel& k) const override { return k.plugin ? k.on_host : k.on_simt; }
  Clock* clock() override { return this; }
  int arch() const override { return 90; }
  double now_s() const override { return now_s_; }
  std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>& kernels, double, L2 l2) override {
    if (l2 == L2::clean) ++clean;
    std::vector<std::vector<double>> us;
    for (const TimedLaunch& k : kernels) {
      timed.push_back(k.launcher);
      if (k.launcher == copier()) copies.push_back(copied(k));
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
  Launcher copier() const override {
    return [](const void* args, const Launch&) {
      const DeviceCopy& c = *static_cast<const DeviceCopy*>(args);
      std::memcpy(c.to, c.from, c.bytes);
    };
  }
  // Kernel number i reads 1000·(i + 1) bytes and writes 10 bytes.
  std::vector<DramBytes> dram_bytes(const std::vector<TimedLaunch>& kernels, const std::vector<double>& about_s) override {
    if (!why_no_dram.empty()) throw std::runtime_error(why_no_dram);
    if (about_s.size() != kernels.size()) throw std::logic_error("an estimate a kernel");
    std::vector<DramBytes> all;
    for (std::size_t i = 0; i < kernels.size(); ++i) all.push_back({1000 * static_cast<double>(i + 1), 10});
    return all;
  }

 protected:
  double now_s_ = 0;

 private:
  // Copies at every place.  What is copied must be noise up to its last word.
  static std::vector<std::size_t> copied(const TimedLaunch& k) {
    std::vector<std::size_t> bytes;
    for (const void* args : k.args) {
      const DeviceCopy& c = *static_cast<const DeviceCopy*>(args);
      k.launcher(args, {});
      std::uint64_t last[2] = {};
      std::memcpy(last, static_cast<const std::byte*>(c.to) + c.bytes - sizeof last, sizeof last);
      if (last[0] == last[1] || !last[0] || !last[1]) throw std::logic_error("what is copied is no noise");
      bytes.push_back(c.bytes);
    }
    return bytes;
  }
};

struct BenchRows {
  bool sound = false;
  std::vector<Json> records;
  std::string shown;
  const Json& of(const std::string& kernel) const {
    for (const Json& j : records)
      if (j.at("kernel") == kernel) return j;
    throw std::runtime_error("no record of " + kernel);
  }
};

// The temporary record file of one build ("side").
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
      CHECK(test::violation(all.back().dump()) == "");
    }
    return all;
  }
};

// Of layernorm_residual these four, whose times the tests know, however many there are.
inline const std::vector<std::string> kKernels{"block_row", "naive", "unfused", "warp_row"};
inline BenchShape shape_of(const std::string& line) {
  const Repro parsed = parse_repro(line, op_shapes());
  const bool known = parsed.what.op == "layernorm_residual";
  std::vector<std::string> kernels = known ? kKernels : std::vector<std::string>{};
  return {.op = find_op(parsed.what.op), .c = parsed.what, .kernels = std::move(kernels), .ladder = {}, .place = {}};
}

inline BenchRows timed(PretendedClock& machine, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings) {
  Side side("");
  BenchTimers timers;
  for (int i = 0; i < flags.processes; ++i) timers.sides[0].push_back(std::make_unique<LocalTimer>(machine));
  if (flags.dram) timers.counter = std::make_unique<LocalTimer>(machine);
  BenchRows outcome;
  outcome.shown = printed_by([&] { outcome.sound = bench_times(timers, shape, flags, ceilings, side.out); });
  outcome.records = side.records();
  return outcome;
}
inline BenchRows timed(PretendedClock& machine, const std::string& line, const BenchFlags& flags, const Ceilings& ceilings) {
  return timed(machine, shape_of(line), flags, ceilings);
}

// Two builds ("sides") that time in turns, each on its own fake GPU.  A launch takes 1 us per row; `factor` times that on side
// `now`.
struct BothSides {
  Side now{"_now"}, base{"_base"};
  bool sound = false;
  BothSides(PretendedClock& machine, const BenchShape& shape, BenchFlags flags, double factor = 1) {
    flags.ab = "this program";
    PretendedClock other;
    other.noise = 2;
    other.work = [](const void* args) {
      return static_cast<double>(static_cast<const layernorm_residual::Args*>(args)->x.shape[0]);
    };
    machine.work = [factor, rows = other.work](const void* args) { return factor * rows(args); };
    RunHead head;
    head.backend = "cuda";
    head.device = "one";
    now.out.start(head);
    base.out.start(head);
    BenchTimers timers;
    timers.other_out = &base.out;
    for (int i = 0; i < flags.processes; ++i) {
      timers.sides[0].push_back(std::make_unique<LocalTimer>(machine));
      timers.sides[1].push_back(std::make_unique<LocalTimer>(other));
    }
    printed_by([&] { sound = bench_times(timers, shape, flags, {.copy = 1e9, .matrix = {}}, now.out); });
  }
};

}  // namespace assay::test
