// SPDX-License-Identifier: Apache-2.0
#include "validate/bench/timed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "validate/bench/device.hpp"
#include "validate/console/table.hpp"

namespace assay {

namespace {

using Json = BenchJson;

// At most 50 samples of each process, evenly spaced, in µs rounded to a nanosecond.  `compare` needs them, and files stay small.
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

// 95 % intervals of reference time over kernel time, [kernels][references].
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

// The DRAM bytes of unfused; nullptr if they were not counted or `t` is unfused.
const DramBytes* unfused_of(const std::vector<Timed>& all, const Timed& t) {
  for (const Timed& other : all)
    if (other.kernel->name == "unfused" && &other != &t && other.first.dram) return &*other.first.dram;
  return nullptr;
}

// The shortest time that a row can take at this device's ceilings.
struct Limit {
  Limit(const Cost& cost, const Ceilings& ceilings, DType t)
      : copy_rate(ceilings.copy),
        matrix_rate(ceilings.matrix_rate(t)),
        copy_us(1e6 * cost.bytes() / copy_rate),
        matrix_us(matrix_rate > 0 ? 1e6 * cost.flops / matrix_rate : 0) {}
  bool by_memory() const { return copy_us >= matrix_us; }
  double us() const { return std::max(copy_us, matrix_us); }
  double copy_rate, matrix_rate;  // bytes and operations per second; 0: not measured
  double copy_us, matrix_us;
};

// The ratios of each reference's time to a kernel's.
struct Ratios {
  Ratios(const Timed& t, double median, const std::vector<const Timed*>& references, const std::vector<Interval>& between,
         const std::string& baseline, double limit_us) {
    for (std::size_t at = 0; at < references.size(); ++at) {
      const Timed* r = references[at];
      const std::string reference(r->kernel->name);
      const double us = median_of(r->cold);
      const bool vendor = is_vendor(*r->kernel);
      speedups[reference] = us / median;
      if (r != &t && t.cold.size() > 1) intervals[reference] = {between[at].low, between[at].high};
      if (reference == baseline || (baseline == "vendor" && vendor && !is_eager(*r->kernel))) {
        speedup = us / median;
        if (const double v = bench_score(median, us, limit_us); std::isfinite(v)) score = v;
      }
      if (r != &t) text += fmt::format("  {:.2f}x {}", us / median, vendor ? reference.substr(9) : reference);
    }
  }
  std::string text;
  Json speedups = Json::object(), intervals = Json::object();
  Json speedup = nullptr, score = nullptr;  // of the baseline
};

// Prints and records a row's kernels.
struct ToldRow {
  const BenchShape& shape;
  const BenchFlags& flags;
  const Cost& cost;
  const Limit& limit;
  const std::optional<MachineState>& machine;

  void print(const Timed& t, const Summary& s, const Ratios& ratios, const DramBytes* unfused) const {
    print_line(t.kernel->name, s, ratios.text + (t.copy.empty() ? "" : fmt::format("  {:.2f}x same copy", share_of(t, s))));
    if (!(t.margin <= 1)) print_wrapped(fmt::format("  WRONG: err/bound {:.3g}", t.margin));
    if (t.first.dram) print_wrapped("  " + dram_text(*t.first.dram, t.kernel->name, cost, unfused));
    if (flags.resources)
      for (const LaunchedFunction& f : t.first.functions) print_wrapped("  " + resources_text(f));
    std::fflush(stdout);
  }

  // Prints the copy that took turns with the kernels.
  void print_copy(const std::vector<Timed>& all) const {
    const auto t = std::ranges::find_if(all, [](const Timed& k) { return k.first.left_out.empty(); });
    if (t == all.end()) return;
    if (t->copy.empty()) print_wrapped(fmt::format("{:<18} left out: no memory for it", "device copy"));
    else print_line("device copy", summary_of(t->copy), "");
  }

  Json record(const Timed& t, const Summary& s, const Ratios& ratios) const {
    const bool matrix = limit.matrix_rate > 0;
    Json j = head_of_row("bench", shape, *t.kernel);
    j.update({{"time_us", json_of(s)},
              {"l2", flags.l2 == L2::clean ? "clean" : "flushed"},
              {"samples_us", kept(t.cold)},
              {"flops", cost.flops},
              {"bytes", {{"formula", cost.bytes()}, {"unfused_formula", cost.unfused_bytes}}},
              {"rate_bytes_per_s", cost.bytes() / (1e-6 * s.p50)},
              {"copy_rate_bytes_per_s", limit.copy_rate},
              {"share_of_copy", limit.copy_us / s.p50},
              {"rate_flops_per_s", cost.flops / (1e-6 * s.p50)},
              {"matrix_rate_flops_per_s", matrix ? Json(limit.matrix_rate) : Json(nullptr)},
              {"share_of_matrix", matrix ? Json(limit.matrix_us / s.p50) : Json(nullptr)},
              {"limit", limit.by_memory() ? "copy" : "matrix"},
              {"share_of_limit", limit.us() / s.p50},
              {"baseline", flags.baseline},
              {"speedup", ratios.speedup},
              {"speedups", ratios.speedups},
              {"speedup_intervals", ratios.intervals},
              {"score", ratios.score},
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
      j["steady_us"]["launches"] = t.first.steady.launches;
      j["steady_us"]["graph"] = t.first.steady.graph;
    }
    if (!t.copy.empty()) {
      j["copy_us"] = json_of(summary_of(t.copy));
      j["share_of_same_copy"] = share_of(t, s);
    }
    if (t.first.dram) j["dram"] = json_of(*t.first.dram);
    if (!t.first.functions.empty()) j["resources"] = json_of(t.first.functions);
    if (!t.first.code.empty()) j["code"] = t.first.code;
    if (machine) j["machine"] = json_of(*machine);
    if (const auto step = std::find(shape.ladder.begin(), shape.ladder.end(), t.kernel->name); step != shape.ladder.end())
      j["step"] = step - shape.ladder.begin();
    return j;
  }

 private:
  // The time of the copy of as many bytes over the kernel's time.
  static double share_of(const Timed& t, const Summary& s) { return median_of(t.copy) / s.p50; }
  void print_line(std::string_view what, const Summary& s, const std::string& ratios) const {
    const double seconds = 1e-6 * s.p50;
    const std::string rate =
        limit.by_memory()
            ? fmt::format("{:>7.1f} GB/s  {:>5.1f} % of copy", 1e-9 * cost.bytes() / seconds, 100 * limit.copy_us / s.p50)
            : fmt::format("{:>6.1f} TFLOP/s  {:>5.1f} % of matrix", 1e-12 * cost.flops / seconds, 100 * limit.matrix_us / s.p50);
    print_wrapped(fmt::format("{:<18} {:>9.2f} µs  {}  [{:.2f}, {:.2f}] µs{}", what, s.p50, rate, s.p5, s.p95, ratios));
  }
};

void leave_out(const BenchShape& shape, const Kernel& k, const std::string& why, const BenchOut& out, bool print) {
  if (print) print_wrapped(fmt::format("{:<18} left out: {}", k.name, why));
  Json j = head_of_row("left_out", shape, k);
  j["reason"] = why;
  out.write(j);
}

}  // namespace

double bench_score(double us, double baseline_us, double limit_us) {
  // A baseline at the limit or below it leaves no range to score in.
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

std::size_t bench_copy_bytes(const Cost& cost, const Ceilings& ceilings, DType t) {
  if (cost.bytes() < 1e6 || !Limit(cost, ceilings, t).by_memory()) return 0;
  return static_cast<std::size_t>(cost.bytes() / 2) / 16 * 16;
}

bool write_timed(std::vector<Timed>& all, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const Cost& cost, const std::optional<MachineState>& machine, const BenchOut& out, bool own) {
  // The kernels that ratios refer to, in the order of printing.
  std::vector<const Timed*> references;
  for (const Timed& t : all)
    if (t.first.left_out.empty() && (t.kernel->name == "unfused" || t.kernel->name == flags.baseline || is_vendor(*t.kernel)))
      references.push_back(&t);
  const auto intervals = intervals_of(all, references, flags.selection.seed);
  const Limit limit(cost, ceilings, shape.c.dtype);
  const ToldRow row{shape, flags, cost, limit, machine};
  bool sound = true;
  if (own && !all.empty())
    print_wrapped(fmt::format("{} {} {}{}", shape.op->name, name(shape.c.dtype), summary(shape.c, shape.op->shape()),
                              shape.place ? " · " + shape.place->label : ""));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Timed& t = all[i];
    std::string& why_not = t.first.left_out;
    if (why_not.empty()) {
      why_not = bench_impossible(cost, median_of(t.cold), ceilings.peak_bytes, ceilings.peak_flops_rate(shape.c.dtype));
      t.first.failed = !why_not.empty();
    }
    if (!why_not.empty()) {
      sound = sound && !t.first.failed;
      leave_out(shape, *t.kernel, why_not, out, own);
      continue;
    }
    sound = sound && t.margin <= 1;
    const Summary s = summary_of(t.cold);
    const Ratios ratios(t, s.p50, references, intervals[i], flags.baseline, limit.us());
    if (own) row.print(t, s, ratios, unfused_of(all, t));
    out.write(row.record(t, s, ratios));
  }
  if (own && flags.copy && bench_copy_bytes(cost, ceilings, shape.c.dtype)) row.print_copy(all);
  return sound;
}

}  // namespace assay
