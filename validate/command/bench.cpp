// SPDX-License-Identifier: Apache-2.0
// bench: times kernels on a GPU beside ceilings and baselines of the same run, and counts their bytes on simt on any machine.
#include "validate/command/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/machine.hpp"
#include "validate/bench/device.hpp"
#include "validate/problem/image.hpp"
#include "validate/tasks/loaded.hpp"
#include "validate/worker/process.hpp"

namespace assay {

namespace {

Ceilings ceilings_of(Clock& clock, const std::vector<BenchShape>& rows, L2 l2) {
  Ceilings ceilings{.copy = clock.copy_rate(), .matrix = {}, .peak_bytes = clock.peak_bytes_rate(), .peak_flops = {}};
  fmt::print("  device copy, read and written: {:.1f} GB/s", 1e-9 * ceilings.copy);
  for (const BenchShape& row : rows) {
    if (ceilings.matrix.contains(row.c.dtype)) continue;
    const double rate = ceilings.matrix[row.c.dtype] = clock.matrix_rate(row.c.dtype);
    ceilings.peak_flops[row.c.dtype] = clock.peak_flops_rate(row.c.dtype);
    if (rate > 0) fmt::print("; matrix product in {}: {:.1f} TFLOP/s", name(row.c.dtype), 1e-12 * rate);
  }
  fmt::print("\n  L2 {} before each launch; median [5 %, 95 %]; a ratio is the other's time over this one's\n\n",
             l2 == L2::clean ? "clean" : "flushed");
  std::fflush(stdout);
  return ceilings;
}

}  // namespace

namespace {

// "y was written without st()" if simt counted fewer bytes than an output has; empty: it counted all.
std::string uncounted(const Op& op, const Record& r) {
  const std::vector<Placement> placements = place(op, r.c);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const auto at = r.traffic.find(std::string(op.tensors[i].name));
    const Traffic t = at == r.traffic.end() ? Traffic{} : at->second;
    const std::int64_t bytes = placements[i].tensor.size() * size_of(placements[i].tensor.dtype);
    if (op.tensors[i].role == Role::output && !is_given(op.tensors[i]) && !lies_over(op, r.c, i) &&
        static_cast<std::int64_t>(t.unique_written_bytes) < bytes)
      return fmt::format("{} was written without st()", op.tensors[i].name);
  }
  return "";
}

}  // namespace

bool bench_traffic(const BenchShape& reduced, const BenchFlags& flags, const BenchOut& out) {
  std::vector<const Kernel*> counted = bench_candidates(reduced, flags);
  std::erase_if(counted, [](const Kernel* k) { return !is_built_for("simt", *k); });
  const std::vector<Task> tasks{{reduced.op, reduced.c, counted}};
  bool sound = true;
  fmt::print("\n  {} {}  {}\n    {:<20}{:>14}{:>14}{:>8}{:>10}{:>8}\n", reduced.op->name, name(reduced.c.dtype),
             summary_of(reduced.c), "kernel", "formula", "unique", "ratio", "requested", "sectors");
  judge(tasks, {.backend = "simt", .timeout_s = flags.timeout_s, .sectors = true, .stop = &stop_requested}, [&](const Record& r) {
    if (r.verdict == Verdict::skipped) fmt::print("    {:<20}skipped: {}\n", r.kernel, r.reason);
    if (r.verdict == Verdict::unsupported || r.verdict == Verdict::skipped) return;
    sound = sound && !is_bad(r.verdict);
    if (is_bad(r.verdict)) fmt::print("    {:<20}{}: {}\n    {}\n", r.kernel, name(r.verdict), r.reason, replay_text(r));
    const std::string why_not = is_bad(r.verdict) ? "" : uncounted(*reduced.op, r);
    if (!why_not.empty()) fmt::print("    {:<20}bytes not counted: {}\n", r.kernel, why_not);
    if (is_bad(r.verdict) || !why_not.empty()) return;
    Traffic sum;
    for (const auto& [tensor, t] : r.traffic) {
      sum.read_bytes += t.read_bytes;
      sum.written_bytes += t.written_bytes;
      sum.unique_read_bytes += t.unique_read_bytes;
      sum.unique_written_bytes += t.unique_written_bytes;
      sum.read_sectors += t.read_sectors;
      sum.written_sectors += t.written_sectors;
    }
    const double requested = static_cast<double>(sum.read_bytes + sum.written_bytes);
    const double unique = static_cast<double>(sum.unique_read_bytes + sum.unique_written_bytes);
    const double sectors = 32 * static_cast<double>(sum.read_sectors + sum.written_sectors);
    fmt::print("    {:<20}{:>14.0f}{:>14.0f}{:>8.4f}{:>10.3f}{:>8.3f}\n", r.kernel, r.cost.bytes(), unique,
               unique / r.cost.bytes(), requested / r.cost.bytes(), sectors / r.cost.bytes());
    if (flags.sites) print_sites(r.sites);
    out.write(traffic_line(r));
  });
  return sound;
}

namespace {

// Prints the title of a suite's table above its first row.
void print_heading(const BenchShape& row, std::string& last) {
  if (!row.place || row.place->table == last) return;
  last = row.place->table;
  fmt::print("\n  {} · {}\n", row.place->suite, last);
}

// Checks on a copy of known size that the process can count DRAM bytes.  If not, prints why and returns null.
std::unique_ptr<RowTimer> counter_of(std::unique_ptr<ChildTimer> process) {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  try {
    const DramBytes moved = process->copy_dram_bytes(kBytes);
    const std::string fault = dram_copy_fault(moved, kBytes);
    if (!fault.empty()) throw std::runtime_error("the counters are wrong: " + fault);
    fmt::print("  DRAM counters: a copy of 1 GiB reads {:.4f} and writes {:.4f} of that\n\n", moved.read / kBytes,
               moved.written / kBytes);
    return process;
  } catch (const std::runtime_error& e) {
    fmt::print("  DRAM bytes are not counted: {}\n\n", e.what());
    return nullptr;
  }
}

// Times every row.  Returns whether every output was right and every rate possible.
bool time_all(const std::vector<BenchShape>& rows, const BenchFlags& flags, BenchOut& out, RunHead head) {
  const std::unique_ptr<Backend> backend = open_backend("cuda");
  Clock& clock = clock_of(*backend);
  DeviceMonitor monitor(clock.bus_id());
  head.driver = monitor.driver();
  out.start(head);
  if (!monitor.missing().empty()) fmt::print("  clocks and power are not recorded: {}\n", monitor.missing());
  static constexpr double kCounting = 180;  // seconds that counting one row may take
  const auto child = [&](int side) {
    return std::make_unique<ChildTimer>(side && !flags.ab.empty() ? flags.ab : "/proc/self/exe", "cuda",
                                        60 + 60 * flags.timeout_s, side ? flags.plugin : "");
  };
  const auto counting = [] { return std::make_unique<ChildTimer>("/proc/self/exe", "cuda", kCounting); };
  BenchTimers timers;
  BenchOut other;
  timers.monitor = &monitor;
  timers.other_out = &other;
  for (int i = 0; i < flags.processes; ++i) {
    timers.sides[0].push_back(child(0));
    if (flags.ab.empty() && flags.plugin.empty()) continue;
    auto there = child(1);
    head.commit = there->commit();
    head.build = there->build();
    timers.sides[1].push_back(std::move(there));
  }
  if (!flags.ab.empty()) {
    other.json = std::make_unique<JsonLines>(flags.ab_json);
    other.start(head);
  }
  const Ceilings ceilings = ceilings_of(clock, rows, flags.l2);
  if (flags.dram) timers.counter = counter_of(counting());
  bool sound = true;
  std::string table;
  for (const BenchShape& row : rows) {
    if (stop_requested) break;
    print_heading(row, table);
    sound = bench_times(timers, row, flags, ceilings, out) && sound;
    for (int side = 0; side < 2; ++side)  // replaces processes that died
      for (auto& timer : timers.sides[side])
        if (!timer->alive()) timer = child(side);
    if (timers.counter && !timers.counter->alive()) timers.counter = counting();
  }
  fmt::print("\n");
  return sound;
}

// Prints the device memory that the kernels of every row need.
int hold_all(const std::vector<BenchShape>& rows, const BenchFlags& flags, const BenchOut& out, const RunHead& head) {
  const std::unique_ptr<Backend> backend = open_backend(head.backend);
  out.start(head);
  fmt::print("  bytes of device memory: tensors, workspace, both{}\n",
             flags.baseline == "none" ? "" : fmt::format("; less than {}: workspace, both", flags.baseline));
  std::string table;
  for (const BenchShape& row : rows) {
    if (stop_requested) return kInterrupted;
    print_heading(row, table);
    bench_memory(*backend, row, flags, out);
    std::fflush(stdout);
  }
  return kAllPassed;
}

// Throws BadInput if the flags contradict each other or the backend.
void check_flags(const BenchFlags& flags, const std::string& backend_name) {
  if (flags.memory && (flags.sites || flags.times_only || !flags.ab.empty()))
    throw BadInput("--memory runs nothing, so it excludes --sites, --times-only and --ab");
  if (flags.sites && flags.times_only) throw BadInput("--sites and --times-only contradict each other");
  if (flags.times_only && backend_name != "cuda")
    throw BadInput("--times-only: simt cannot time; it needs a GPU, --backend cuda");
  if (!flags.ab.empty() && backend_name != "cuda") throw BadInput("--ab: simt cannot time; it needs a GPU, --backend cuda");
  if (!flags.plugin.empty() && (flags.memory || flags.once || flags.dram || !flags.ab.empty()))
    throw BadInput("--plugin is timed in a process of its own, so it excludes --memory, --once, --dram and --ab");
  if (!flags.plugin.empty() && backend_name != "cuda")
    throw BadInput("--plugin: only a GPU times kernels; it needs one, --backend cuda");
  if (flags.ab.empty() != flags.ab_json.empty() || (!flags.ab.empty() && flags.json.empty()))
    throw BadInput("--ab PROGRAM needs --json and --ab-json: the files for the records of the two builds");
  if (!flags.ab.empty()) require_writable(flags.ab_json);
  if (!flags.ab.empty() && flags.ab_json == flags.json)
    throw BadInput(fmt::format("'{}' is named as two outputs", flags.ab_json));
  if (!flags.set.empty() && (backend_name == "cuda" || flags.memory))
    throw BadInput("--set: the kernels of a set are not timed, their bytes are counted on simt  (--backend simt)");
  if (backend_name == "cuda") {
    const bool times = flags.copy || flags.l2 == L2::clean;
    if (flags.once && (flags.memory || flags.dram || times || flags.sites || flags.times_only || !flags.ab.empty()))
      throw BadInput(
          "--once times and counts nothing, so it excludes --memory, --dram, --copy, --clean, --sites, --times-only and --ab");
    if (flags.memory && (flags.dram || times || flags.resources))
      throw BadInput("--memory runs nothing, so it excludes --dram, --copy, --clean and --resources");
    return;
  }
  if (flags.dram) throw BadInput("--dram: simt has no DRAM counters; it needs a GPU, --backend cuda");
  if (flags.copy) throw BadInput("--copy: simt cannot time; it needs a GPU, --backend cuda");
  if (flags.l2 == L2::clean) throw BadInput("--clean: simt cannot time; it needs a GPU, --backend cuda");
  if (flags.resources)
    throw BadInput("--resources: simt has no registers and no multiprocessors; it needs a GPU, --backend cuda");
  if (flags.once) throw BadInput("--once: simt has no profiler; it needs a GPU, --backend cuda");
}

}  // namespace

namespace {

// Puts the plugin's kernels beside ours, in this process.
void load_beside_ours(const BenchFlags& flags) {
  load_kernels(flag_text("--plugin", flags.plugin), own_worker("cuda", flags.plugin), flags.timeout_s);
  std::vector<Kernel> all(built_in_kernels().begin(), built_in_kernels().end());
  for (const Kernel& k : kernels()) {
    if (std::any_of(all.begin(), all.end(), [&](const Kernel& ours) { return ours.op == k.op && ours.name == k.name; }))
      throw BadInput(fmt::format("--plugin {}: its kernel '{}/{}' has the name of one of ours, beside which it is timed",
                                 flags.plugin, k.op, k.name));
    all.push_back(k);
  }
  use_kernels(std::move(all));
}

}  // namespace

int bench_command(const BenchFlags& flags) {
  std::string backend_name;
  int code = 0;
  if (!backend_ready(flags.machine, backend_name, code)) return code;
  if (const std::string fault = arithmetic_fault(); !fault.empty()) throw std::runtime_error(fault);
  check_flags(flags, backend_name);
  if (!flags.set.empty()) load_set(flags.set, backend_name, flags.timeout_s);
  if (!flags.plugin.empty()) load_beside_ours(flags);
  const std::vector<BenchShape> rows = bench_rows(flags, backend_name == "cuda");

  BenchOut out;
  RunHead head = head_of(backend_name, flags.selection);
  if (!flags.suite.empty()) head.suite = flags.suite;
  if (!flags.json.empty()) out.json = std::make_unique<JsonLines>(flags.json);
  bool sound = true;
  fmt::print("Assay {} · commit {} · {}\n\n", head.version, head.commit, head.device);
  if (flags.memory) return hold_all(rows, flags, out, head);
  if (flags.once) {
    out.start(head);
    bench_once(*open_backend(backend_name), rows, flags, out, stop_requested);
    return stop_requested ? kInterrupted : kAllPassed;
  }
  if (backend_name == "cuda") sound = time_all(rows, flags, out, head);
  else out.start(head);
  if (!flags.times_only && flags.ab.empty()) {
    fmt::print("  bytes counted on simt and by the contract's formula; ratios are to the formula\n");
    std::set<std::string> counted;  // several rows may be cut down to the same case
    for (const BenchShape& row : rows) {
      const BenchShape small{.op = row.op, .c = bench_reduced(*row.op, row.c), .kernels = row.kernels};
      if (stop_requested || !counted.insert(repro(small.c, row.op->shape())).second) continue;
      sound = bench_traffic(small, flags, out) && sound;
    }
  }
  fmt::print("\n{} rows, {}\n", rows.size(), sound ? "every output right" : "some outputs WRONG");
  if (stop_requested) return kInterrupted;
  if (!sound) return kVerdictFailed;
  if (flags.ab.empty()) return kAllPassed;
  CompareFlags compare;
  compare.files = {flags.ab_json, flags.json};
  compare.seed = flags.selection.seed;
  fmt::print("\n{} -> this build, in turns\n\n", plain(flags.ab));
  return compare_command(compare);
}

}  // namespace assay
