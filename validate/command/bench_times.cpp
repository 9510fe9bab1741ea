// SPDX-License-Identifier: Apache-2.0
// Times of one shape, on a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/command/bench.hpp"
#include "validate/command/bench_device.hpp"
#include "validate/command/bench_judge.hpp"
#include "validate/image.hpp"
#include "validate/stats.hpp"

namespace assay {

namespace {

using Json = BenchJson;

// One kernel's times of all processes of a build.
struct Timed {
  const Kernel* kernel = nullptr;
  Clusters cold, steady;
  KernelTimes first;  // without its times
  double margin = 0;
  std::size_t judged = 0;  // processes
};

std::string label_of(const BenchShape& shape) { return shape.place ? "  · " + shape.place->label : ""; }

void leave_out(const BenchShape& shape, const Kernel& k, const std::string& why, const BenchOut& out, bool print) {
  if (print) fmt::print("{} left out: {}{}\n", row_text(shape, k), why, label_of(shape));
  Json j = head_of_row("left_out", shape, k);
  j["reason"] = why;
  out.write(j);
}

// At most 50 of each process, evenly over its time, in nanoseconds: what a comparison needs, in a file that can be kept.
Json kept(const Clusters& processes) {
  constexpr std::size_t kKept = 50;
  Json all = Json::array();
  for (const auto& us : processes) {
    Json some = Json::array();
    const std::size_t n = std::min(us.size(), kKept);
    for (std::size_t i = 0; i < n; ++i) some.push_back(std::round(1e3 * us[i * us.size() / n]) / 1e3);
    all.push_back(std::move(some));
  }
  return all;
}

Json json_of(const Summary& s) {
  Json j{{"median", s.p50}, {"p5", s.p5},     {"p95", s.p95}, {"min", s.min},
         {"max", s.max},    {"mean", s.mean}, {"std", s.std}, {"samples", s.n}};
  if (s.p99) j["p99"] = *s.p99;
  return j;
}

Json json_of(const MachineState& m) {
  return {{"sm_mhz_min", m.sm_mhz_min},
          {"sm_mhz_max", m.sm_mhz_max},
          {"memory_mhz", m.memory_mhz},
          {"power_w_max", m.power_w_max},
          {"temperature_c_max", m.temperature_c_max},
          {"throttle", m.throttle}};
}

// The bytes of device memory of what was timed, by the process that counts; it says once what goes against it.
void count_dram(RowTimer& counter, const BenchShape& shape, const SharedMemory& inputs, std::vector<Timed>& all) {
  TimingOrder order{.op = shape.op, .c = shape.c, .kernels = {}, .dram = true};
  std::vector<Timed*> counted;
  for (Timed& t : all)
    if (t.first.left_out.empty()) counted.push_back(&t), order.kernels.emplace_back(t.kernel->name);
  if (counted.empty()) return;
  const std::vector<KernelTimes> times = counter.time(order, inputs, {});
  static std::string said;
  for (std::size_t i = 0; i < times.size(); ++i) {
    counted[i]->first.dram = times[i].dram;
    if (times[i].dram || times[i].left_out == said) continue;
    said = times[i].left_out;
    fmt::print("{} DRAM bytes were not counted: {}\n", row_text(shape, *counted[i]->kernel), said);
  }
}

// A line for each function of a library, or one why they are not known.
void print_traced(const KernelTimes& t) {
  for (const CalledFunction& f : t.library_functions) fmt::print("  {:<18} {}: {} blocks\n", "", f.name, f.blocks);
  if (!t.no_trace.empty()) fmt::print("  {:<18} the library's functions are not known: {}\n", "", t.no_trace);
}

}  // namespace

double bench_score(double us, double baseline_us, double limit_us) {
  // 0.5 at the baseline, 1 at the limit.  A baseline at its limit or beyond leaves nothing to score by.
  if (!(baseline_us > limit_us)) return std::nan("");
  return 1 / (1 + std::max(0.0, us - limit_us) / (baseline_us - limit_us));
}

std::string bench_impossible(const Cost& cost, double us, double peak_bytes, double peak_flops) {
  const double bytes = cost.bytes_read / (1e-6 * us), flops = cost.flops / (1e-6 * us);
  if (peak_bytes > 0 && bytes > peak_bytes)
    return fmt::format("IMPOSSIBLE: {:.1f} GB/s read, the memory has {:.1f}", 1e-9 * bytes, 1e-9 * peak_bytes);
  if (peak_flops > 0 && flops > peak_flops)
    return fmt::format("IMPOSSIBLE: {:.1f} TFLOP/s, the device has {:.1f}", 1e-12 * flops, 1e-12 * peak_flops);
  return "";
}

namespace {

// 95 % of each reference's time over each kernel's.
std::vector<std::vector<Interval>> intervals_of(const std::vector<Timed>& all, const std::vector<const Timed*>& references,
                                                std::uint64_t seed) {
  std::vector<std::vector<Interval>> intervals(all.size(), std::vector<Interval>(references.size()));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t at = 0; at < all.size() * references.size(); ++at) {
    const std::size_t i = at / references.size(), j = at % references.size();
    if (all[i].cold.size() > 1 && references[j] != &all[i])
      intervals[i][j] = ratio_interval(all[i].cold, references[j]->cold, 0.95, seed);
  }
  return intervals;
}

// What unfused moved of device memory; nullptr where nobody counted it, and for unfused.
const DramBytes* unfused_of(const std::vector<Timed>& all, const Timed& t) {
  for (const Timed& other : all)
    if (other.kernel->name == "unfused" && &other != &t && other.first.dram) return &*other.first.dram;
  return nullptr;
}

// Writes the rows of one build, and prints them where it is this one (`own`); whether all is right.
bool write_rows(std::vector<Timed>& all, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                const Cost& cost, const std::optional<MachineState>& machine, const BenchOut& out, bool own) {
  // What ratios refer to, in the order of printing.
  std::vector<const Timed*> references;
  for (const Timed& t : all)
    if (t.first.left_out.empty() && (t.kernel->name == "unfused" || t.kernel->name == flags.baseline || is_vendor(*t.kernel)))
      references.push_back(&t);
  const double matrix_rate = ceilings.matrix_rate(shape.c.dtype);
  const double copy_us = 1e6 * cost.bytes() / ceilings.copy, matrix_us = matrix_rate > 0 ? 1e6 * cost.flops / matrix_rate : 0;
  const bool by_memory = copy_us >= matrix_us;
  const auto intervals_of_all = intervals_of(all, references, flags.run.selection.seed);
  bool sound = true;
  for (Timed& t : all) {
    if (t.first.left_out.empty())
      t.first.left_out = bench_impossible(cost, median_of(t.cold), ceilings.peak_bytes, ceilings.peak_flops_rate(shape.c.dtype)),
      t.first.failed = !t.first.left_out.empty();
    sound = sound && !t.first.failed;
    if (!t.first.left_out.empty()) {
      leave_out(shape, *t.kernel, t.first.left_out, out, own);
      continue;
    }
    const Summary s = summary_of(t.cold);
    const double median = s.p50, bytes_rate = cost.bytes() / (1e-6 * median), flops_rate = cost.flops / (1e-6 * median);
    const bool right = t.margin <= 1;
    sound = sound && right;
    std::string ratios;
    Json speedups = Json::object(), intervals = Json::object(), baseline_speedup = nullptr, score = nullptr;
    for (std::size_t at = 0; at < references.size(); ++at) {
      const Timed* r = references[at];
      const std::string reference(r->kernel->name);
      const double us = median_of(r->cold);
      const bool vendor = is_vendor(*r->kernel);
      speedups[reference] = us / median;
      const Interval& i = intervals_of_all[static_cast<std::size_t>(&t - all.data())][at];
      if (r != &t && t.cold.size() > 1) intervals[reference] = {i.low, i.high};
      if (reference == flags.baseline || (flags.baseline == "vendor" && vendor && !is_eager(*r->kernel))) {
        baseline_speedup = us / median;
        if (const double v = bench_score(median, us, std::max(copy_us, matrix_us)); std::isfinite(v)) score = v;
      }
      if (r != &t) ratios += fmt::format("  {:.2f}x {}", us / median, vendor ? reference.substr(9) : reference);
    }
    const std::string rate =
        by_memory ? fmt::format("{:>7.1f} GB/s    {:>5.1f} % of copy  ", 1e-9 * bytes_rate, 100 * copy_us / median)
                  : fmt::format("{:>7.1f} TFLOP/s {:>5.1f} % of matrix", 1e-12 * flops_rate, 100 * matrix_us / median);
    if (own)
      fmt::print("{} {:>9.2f} µs [{:.2f}, {:.2f}]  {}{}{}{}\n", row_text(shape, *t.kernel), median, s.p5, s.p95, rate, ratios,
                 label_of(shape), right ? "" : fmt::format("  WRONG: err/bound {:.3g}", t.margin));
    if (own && t.first.dram) fmt::print("  {:<18} {}\n", "", dram_text(*t.first.dram, t.kernel->name, cost, unfused_of(all, t)));
    if (own) print_traced(t.first);
    if (own && flags.resources)
      for (const LaunchedFunction& f : t.first.functions) fmt::print("  {:<18} {}\n", "", resources_text(f));
    std::fflush(stdout);
    Json j = head_of_row("bench", shape, *t.kernel);
    j.update({{"time_us", json_of(s)},
              {"l2", "flushed"},
              {"samples_us", kept(t.cold)},
              {"flops", cost.flops},
              {"bytes", {{"formula", cost.bytes()}, {"unfused_formula", cost.unfused_bytes}}},
              {"rate_bytes_per_s", bytes_rate},
              {"copy_rate_bytes_per_s", ceilings.copy},
              {"share_of_copy", copy_us / median},
              {"rate_flops_per_s", flops_rate},
              {"matrix_rate_flops_per_s", matrix_rate > 0 ? Json(matrix_rate) : Json(nullptr)},
              {"share_of_matrix", matrix_rate > 0 ? Json(matrix_us / median) : Json(nullptr)},
              {"limit", by_memory ? "copy" : "matrix"},
              {"share_of_limit", std::max(copy_us, matrix_us) / median},
              {"baseline", flags.baseline},
              {"speedup", baseline_speedup},
              {"speedups", speedups},
              {"speedup_intervals", intervals},
              {"score", score},
              {"margin_after_timing", std::isfinite(t.margin) ? Json(t.margin) : Json("inf")},
              {"processes", t.cold.size()},
              {"processes_judged", t.judged},
              {"device_bytes",
               {{"tensors", t.first.tensor_bytes},
                {"workspace", t.first.workspace_bytes},
                {"other", t.first.other_bytes},
                {"peak", t.first.tensor_bytes + t.first.workspace_bytes + t.first.other_bytes}}}});
    if (count_of(t.steady)) {
      j["steady_us"] = json_of(summary_of(t.steady));
      j["steady_us"]["launches"] = t.first.steady.launches, j["steady_us"]["graph"] = t.first.steady.graph;
    }
    if (t.first.dram) j["dram"] = json_of(*t.first.dram);
    if (!t.first.functions.empty()) j["resources"] = json_of(t.first.functions);
    if (!t.first.library_functions.empty()) j["library_functions"] = json_of(t.first.library_functions);
    if (!t.first.code.empty()) j["code"] = t.first.code;
    if (machine) j["machine"] = json_of(*machine);
    if (const auto step = std::find(shape.ladder.begin(), shape.ladder.end(), t.kernel->name); step != shape.ladder.end())
      j["step"] = step - shape.ladder.begin();
    if (own && flags.plant > 0) j["planted"] = flags.plant;
    if (flags.rest_s > 0) j["rest_s"] = flags.rest_s;
    out.write(j);
  }
  return sound;
}

// What this side times in place of the row, with --plant.
struct Planted {
  Case c;
  std::unique_ptr<FilledInputs> inputs;
  std::string why_not;
};

Planted planted_for(const BenchShape& shape, const BenchFlags& flags) {
  if (!(flags.plant > 0)) return {};
  for (const Case& longer : bench_longer(*shape.op, shape.c, flags.plant)) {
    auto inputs = std::make_unique<FilledInputs>(*shape.op, longer);
    const std::unique_ptr<Problem> problem = shape.op->make();
    attach(*problem, longer, inputs->packing.placements, inputs->images);
    if (problem->legal()) return {longer, std::move(inputs), ""};
  }
  return {{}, nullptr, fmt::format("too few rows to plant {} %: one more would be more than half of that too much", flags.plant)};
}

// What is too slow for one side is left out for both, else a kernel at the edge of that would be a row that was lost.
void leave_out_for_both(std::vector<Timed> (&all)[2]) {
  for (std::size_t i = 0; i < all[0].size(); ++i)
    for (int side = 0; side < 2; ++side)
      if (const Timed& slow = all[side][i]; slow.first.slow && all[1 - side][i].first.left_out.empty())
        all[1 - side][i].first.left_out = slow.first.left_out;
}

}  // namespace

bool bench_times(BenchTimers& timers, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const BenchOut& out) {
  constexpr std::size_t kJudgedEach = std::size_t{16} << 20;  // larger outputs, and those of --ab, in one process of a build
  const Planted planted = planted_for(shape, flags);
  if (!planted.why_not.empty()) {
    for (const Kernel* k : bench_candidates(shape, flags)) leave_out(shape, *k, planted.why_not, out, true);
    return true;
  }
  const RowJudge row(*shape.op, shape.c);
  std::vector<Timed> all[2];
  for (const Kernel* k : bench_candidates(shape, flags))
    for (auto& side : all)
      side.push_back({.kernel = k, .cold = {}, .steady = {}, .first = {}}), side.back().first.kernel = k->name;
  if (timers.monitor) timers.monitor->start();
  const std::size_t turns = std::max(timers.sides[0].size(), timers.sides[1].size());
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (int i = 0; i < 2; ++i) {
      // The two builds take turns in going first.
      const std::size_t which = (turn + static_cast<std::size_t>(i)) % 2;
      if (turn >= timers.sides[which].size()) continue;
      std::vector<Timed>& side = all[which];
      TimingOrder order{.op = shape.op, .c = shape.c, .kernels = {}};
      for (const Timed& t : side)
        if (t.first.left_out.empty()) order.kernels.emplace_back(t.kernel->name);
      if (order.kernels.empty()) continue;
      order.seconds = flags.seconds / static_cast<double>(timers.sides[which].size());
      order.rest_s = flags.rest_s;
      order.leave_out_slow = order.functions = turn == 0;
      if (flags.library_functions)
        for (const Timed& t : side)
          if (is_vendor(*t.kernel)) order.traced.emplace_back(t.kernel->name);
      order.judge = turn == 0 || (flags.ab.empty() && row.output_bytes() <= kJudgedEach);
      if (planted.inputs && which == 0) order.longer = planted.c, order.longer_inputs = &planted.inputs->memory;
      const auto at = [&](const std::string& name) {
        return std::find_if(side.begin(), side.end(), [&](const Timed& t) { return t.kernel->name == name; });
      };
      auto times = timers.sides[which][turn]->time(order, row.inputs(), [&](const std::string& name, const auto& images) {
        const auto t = at(name);
        if (t == side.end()) return;
        t->margin = std::max(t->margin, row.margin(*t->kernel, images)), ++t->judged;
      });
      for (KernelTimes& k : times) {
        const auto t = at(k.kernel);
        if (t == side.end()) continue;
        if (k.left_out.empty()) t->cold.push_back(std::move(k.cold_us)), t->steady.push_back(std::move(k.steady.us));
        k.cold_us.clear(), k.steady.us.clear();
        if (k.functions.empty()) k.functions = std::move(t->first.functions);  // the first turn says them
        join_traces(t->first, k);
        t->first = k;
      }
      if (turn == 0 && i == 1 && !timers.sides[1].empty()) leave_out_for_both(all);
    }
  const std::optional<MachineState> machine = timers.monitor ? timers.monitor->stop() : std::nullopt;
  if (timers.counter) count_dram(*timers.counter, shape, row.inputs(), all[0]);
  bool sound = write_rows(all[0], shape, flags, ceilings, row.cost(), machine, out, true);
  if (!timers.sides[1].empty())
    sound = write_rows(all[1], shape, flags, ceilings, row.cost(), machine, *timers.other_out, false) && sound;
  return sound;
}

}  // namespace assay
