// SPDX-License-Identifier: Apache-2.0
// The two halves of bench: times on a GPU, and bytes as simt counts them.
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
#include "validate/records/record.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

using BenchJson = nlohmann::ordered_json;

// What this machine can do at most, measured in the same run.
struct Ceilings {
  double copy = 0;                 // bytes per second, read and written
  std::map<DType, double> matrix;  // operations per second; 0 or missing: not measured
  // By the device's own figures: what exceeds them was not measured right.  0: unknown.
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
  std::string suite;                // of datasets/bench/suites; empty: the ops' own files
  std::string baseline = "unfused";
  double seconds = 0.3;  // of timing for each row, all processes together
  bool times_only = false;
  bool sites = false;       // bytes by source line too
  bool memory = false;      // device memory instead: nothing runs
  bool once = false;        // each kernel once instead, for a profiler
  bool dram = false;        // bytes of device memory by the hardware's counters
  bool resources = false;   // print what each function takes of a multiprocessor
  int processes = 6;        // that each row is timed in
  std::string ab, ab_json;  // another build of this program, timed in turn; the file for its records
};

struct BenchOut {
  std::unique_ptr<JsonLines> json;
  void start(const RunHead& head) const {
    if (json) json->write(to_json(head));
  }
  void write(const BenchJson& j) const {
    if (json) json->write(j.dump());
  }
};

// Where a row stands in a suite (--suite), and what its document reported.
struct RowOfSuite {
  std::string suite, table, label;
  BenchJson reported;
};

inline bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// One row of a bench file: a case, and the kernels that it is kept for (empty: all).
struct BenchShape {
  const Op* op = nullptr;
  Case c;
  std::vector<std::string> kernels;
  std::vector<std::string> ladder{};  // the op's kernels in the order of their ideas
  std::optional<RowOfSuite> place{};
};

// Every row that the flags mean.  Throws BadInput for everything that a person can get wrong.
std::vector<BenchShape> bench_rows(const BenchFlags& flags, bool on_gpu);

// The first fields of a record of a kernel on a row.
BenchJson head_of_row(std::string_view record, const BenchShape& shape, const Kernel& k);
// The same as the beginning of a line.
std::string row_text(const BenchShape& shape, const Kernel& k);

// The sound kernels of a row that the flags ask for, and those that ratios refer to.
std::vector<const Kernel*> bench_candidates(const BenchShape& shape, const BenchFlags& flags);

// The processes that time: of this build, and of another one (--ab) whose records go to a file of its own.
struct BenchTimers {
  std::vector<std::unique_ptr<RowTimer>> sides[2];
  const BenchOut* other_out = nullptr;
  DeviceMonitor* monitor = nullptr;
  // Counts bytes of device memory, and takes no times: a profiler may leave its marks on a process.  Null: nobody counts.
  std::unique_ptr<RowTimer> counter;
};

// Times the kernels of one row in every process, interleaved there, judges what each computes after it at addresses that it has
// not seen, prints and writes; whether every output was right and every rate possible.
bool bench_times(BenchTimers& timers, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const BenchOut& out);

// S = 1 / (1 + (t - t_limit) / (t_base - t_limit)): 0.5 at the baseline, 1 at the limit; NaN where the baseline is at it.
double bench_score(double us, double baseline_us, double limit_us);
// Why a time cannot be: its rate is above the device's peak (0: unknown); empty: it can.
std::string bench_impossible(const Cost& cost, double us, double peak_bytes, double peak_flops);

// The row's case with its axes cut down to what a simulator can do.
Case bench_reduced(const Op& op, const Case& c);
// What each kernel moves on simt at that size, beside the contract's formula.
bool bench_traffic(const BenchShape& reduced, const BenchFlags& flags, const BenchOut& out);
// What each kernel that can run there holds of device memory, its tensors and its workspace: allocated, and not run.
void bench_memory(Backend& backend, const BenchShape& shape, const BenchFlags& flags, const BenchOut& out);
// Launches each kernel once, on the first row that it takes and is quick on, for a profiler that watches this process.
void bench_once(Backend& backend, const std::vector<BenchShape>& rows, const BenchFlags& flags, const BenchOut& out,
                const std::atomic<bool>& stop);

}  // namespace assay
