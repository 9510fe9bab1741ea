// SPDX-License-Identifier: Apache-2.0
#include "validate/bench/timed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "validate/bench/device.hpp"
#include "validate/console/table.hpp"
#include "validate/records/fields/bench_fields.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/writer.hpp"

namespace assay {

namespace {

// At most 50 samples of each process, evenly spaced, in µs rounded to a nanosecond.  `compare` needs them, and files stay small.
Clusters kept(const Clusters& processes) {
  constexpr std::size_t kKept = 50;
  Clusters all;
  for (const auto& us : processes) {
    std::vector<double>& some = all.emplace_back();
    const std::size_t n = std::min(us.size(), kKept);
    for (std::size_t i = 0; i < n; ++i) some.push_back(std::round(1e3 * us[i * us.size() / n]) / 1e3);
  }
  return all;
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
      speedups.emplace_back(reference, us / median);
      if (r != &t && t.cold.size() > 1) intervals.push_back({reference, {between[at].low, between[at].high}});
      if (reference == baseline || (baseline == "vendor" && vendor && !is_eager(*r->kernel))) {
        speedup = us / median;
        if (const double v = bench_score(median, us, limit_us); std::isfinite(v)) score = v;
      }
      if (r != &t) text += fmt::format("  {:.2f}x {}", us / median, vendor ? reference.substr(9) : reference);
    }
  }
  std::string text;
  Pairs<double> speedups;
  Pairs<std::vector<double>> intervals;
  std::optional<double> speedup, score;  // of the baseline
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

  BenchRecord record(const Timed& t, const Summary& s, const Ratios& ratios) const {
    BenchRecord r{.row = recorded_row(shape, *t.kernel),
                  .time_us = {s},
                  .l2 = flags.l2 == L2::clean ? "clean" : "flushed",
                  .samples_us = kept(t.cold),
                  .flops = cost.flops,
                  .bytes = {cost.bytes(), cost.unfused_bytes},
                  .rate_bytes_per_s = cost.bytes() / (1e-6 * s.p50),
                  .copy_rate_bytes_per_s = limit.copy_rate,
                  .share_of_copy = limit.copy_us / s.p50,
                  .rate_flops_per_s = cost.flops / (1e-6 * s.p50),
                  .limit = limit.by_memory() ? "copy" : "matrix",
                  .share_of_limit = limit.us() / s.p50,
                  .baseline = flags.baseline,
                  .speedup = ratios.speedup,
                  .speedups = ratios.speedups,
                  .speedup_intervals = ratios.intervals,
                  .score = ratios.score,
                  .margin_after_timing = std::isfinite(t.margin) ? t.margin : INFINITY,
                  .processes = t.cold.size(),
                  .processes_judged = t.judged,
                  .dram = t.first.dram,
                  .resources = t.first.functions,
                  .code = t.first.code,
                  .machine = machine};
    if (limit.matrix_rate > 0) {
      r.matrix_rate_flops_per_s = limit.matrix_rate;
      r.share_of_matrix = limit.matrix_us / s.p50;
    }
    const KernelTimes& of = t.first;
    r.device_bytes = {of.tensor_bytes, of.workspace_bytes, of.other_bytes, of.tensor_bytes + of.workspace_bytes + of.other_bytes};
    if (count_of(t.steady)) r.steady_us = {summary_of(t.steady), of.steady.launches, of.steady.graph};
    if (!t.copy.empty()) {
      r.copy_us = {summary_of(t.copy)};
      r.share_of_same_copy = share_of(t, s);
    }
    if (const auto step = std::find(shape.ladder.begin(), shape.ladder.end(), t.kernel->name); step != shape.ladder.end())
      r.step = step - shape.ladder.begin();
    return r;
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
  out.write(record_line("left_out", LeftOutRecord{recorded_row(shape, k), why}));
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
    out.write(record_line("bench", row.record(t, s, ratios)));
  }
  if (own && flags.copy && bench_copy_bytes(cost, ceilings, shape.c.dtype)) row.print_copy(all);
  return sound;
}

}  // namespace assay
