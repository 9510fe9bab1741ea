// SPDX-License-Identifier: Apache-2.0
// The rows of `validate bench`, their timing on a GPU and their byte counts on simt; for validate/command/bench.cpp.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/backends/choice.hpp"
#include "validate/bench/device_monitor.hpp"
#include "validate/bench/timer.hpp"
#include "validate/problem/op.hpp"
#include "validate/records/output_file.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

struct RecordedRow;

// The device's ceilings, measured in the same run as the rows.
struct Ceilings {
  double copy = 0;                 // bytes per second, read plus written
  std::map<DType, double> matrix;  // operations per second, by dtype; 0 or missing: not measured
  // Peak rates from the device's specification.  A measured rate above them is a measuring error.  0: unknown.
  double peak_bytes = 0;
  std::map<DType, double> peak_flops;
  double peak_flops_rate(DType t) const {
    const auto at = peak_flops.find(t);
    return at == peak_flops.end() ? 0 : at->second;
  }
  double matrix_rate(DType t) const {
    const auto at = matrix.find(t);
    return at == matrix.end() ? 0 : at->second;
  }
};

struct BenchFlags {
  Selection selection;
  BackendFlags machine;
  std::string json;
  double timeout_s = 60;
  std::vector<std::string> shapes;  // "rows=16384 cols=8192"
  std::string suite;                // a file's name in datasets/bench/suites; empty: the ops' own files
  std::string baseline = "unfused";
  double seconds = 0.3;  // how long to time a row, summed over all processes
  bool times_only = false;
  bool sites = false;       // count bytes by source line too
  bool memory = false;      // only allocate and report device memory; no kernel runs
  bool once = false;        // only launch each kernel once, for a profiler
  bool dram = false;        // count DRAM bytes with the hardware's counters
  bool copy = false;        // also time a copy of as many bytes, in rows that memory limits
  L2 l2 = L2::flushed;      // the cache before each launch
  bool resources = false;   // print registers, shared memory and occupancy of each function
  int processes = 6;        // processes that time each row
  std::string plugin;       // path of a shared object whose kernels are timed beside ours
  std::string set;          // whose kernels take the place of ours, on simt
  std::string ab, ab_json;  // path of another build's program, timed in turns; the file for its records
};

struct BenchOut {
  std::unique_ptr<JsonLines> json;
  void start(const RunHead& head) const {
    if (json) json->write(to_json(head));
  }
  void write(const std::string& line) const {
    if (json) json->write(line);
  }
};

// A row's place in a suite (--suite), and the figures that were published for it.
struct RowOfSuite {
  std::string suite, table, label;
  nlohmann::ordered_json reported;
};

inline bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// One row to time: a case, and the kernels that the bench file limits it to (empty: all).
struct BenchShape {
  const Op* op = nullptr;
  Case c;
  std::vector<std::string> kernels;
  std::vector<std::string> ladder{};  // the op's kernels, plainest first
  std::optional<RowOfSuite> place{};
};

// The rows that the flags select.  Throws BadInput for an unknown name, an illegal shape or one too large for memory.
std::vector<BenchShape> bench_rows(const BenchFlags& flags, bool on_gpu);

// The fields that begin every record of a kernel on a row.
RecordedRow recorded_row(const BenchShape& shape, const Kernel& k);
// The same fields as the beginning of a printed line.
std::string row_text(const BenchShape& shape, const Kernel& k);

// The sound kernels that the flags select for a row, and those to which its ratios refer: unfused, --baseline, vendor libraries.
// With --baseline none only the former.
std::vector<const Kernel*> bench_candidates(const BenchShape& shape, const BenchFlags& flags);

// The timing processes of this build (sides[0]), and those that take turns with them (sides[1]): of a plugin, or of another build
// (--ab), whose records go to a file of its own.
struct BenchTimers {
  std::vector<std::unique_ptr<RowTimer>> sides[2];
  const BenchOut* other_out = nullptr;
  DeviceMonitor* monitor = nullptr;
  // Counts DRAM bytes, in a process that times nothing, since it may be slower once a profiler was in it.  Null: not counted.
  std::unique_ptr<RowTimer> counter;
};

// Times the kernels of one row in every process, each of which interleaves them.  Then runs each at addresses that no launch has
// used, judges that output, prints and writes.  Returns whether every output was right and every rate below the device's peak.
bool bench_times(BenchTimers& timers, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const BenchOut& out);

// 1 / (1 + (t - t_limit) / (t_base - t_limit)): 0.5 at the baseline, 1 at the limit; NaN if the baseline is not above the limit.
double bench_score(double us, double baseline_us, double limit_us);
// Why a time is impossible: its rate exceeds the device's peak (0: unknown).  Empty: it is possible.
std::string bench_impossible(const Cost& cost, double us, double peak_bytes, double peak_flops);

// The case with its axes cut down to what simt runs in reasonable time.
Case bench_reduced(const Op& op, const Case& c);
// Counts each kernel's bytes on simt and prints them beside the formula's.  Returns whether every output was right.
bool bench_traffic(const BenchShape& reduced, const BenchFlags& flags, const BenchOut& out);
// Allocates the tensors and the workspace of each kernel that the backend can run, and reports their bytes.  Runs no kernel.
void bench_memory(Backend& backend, const BenchShape& shape, const BenchFlags& flags, const BenchOut& out);
// Launches each kernel once, on the first row that it supports and is quick on, for a profiler attached to this process.
void bench_once(Backend& backend, const std::vector<BenchShape>& rows, const BenchFlags& flags, const BenchOut& out,
                const std::atomic<bool>& stop);

}  // namespace assay
