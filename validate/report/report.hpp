// SPDX-License-Identifier: Apache-2.0
// A report's contents, read from several record files and independent of the output format.  The HTML, Markdown and CSV writers
// render them.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "validate/records/record_file.hpp"

namespace assay {

struct ReportRow {
  const RecordFile* file = nullptr;       // the latest file that has the row
  const TimedRow* row = nullptr;          // the row in that file
  const TimedRow* before = nullptr;       // in the last earlier file with it, if that is of the same suite, backend and device
  std::vector<const SuitePlace*> suites;  // the published tables that list it in that file
  std::string again;                      // the command that times it again
};

struct ReportKernel {
  std::string op, kernel, dtype, again;  // again: repro line of the case with the largest margin
  std::size_t cases = 0, passed = 0, bad = 0, unsupported = 0;
  double margin = -1;         // the largest; below 0: nothing was compared
  double max_abs_error = -1;  // the largest; below 0: not recorded, as in older files
};

// The failures of one kernel of one kind: one of them in full, and commands for the others.
struct ReportFailure {
  std::string verdict, what, reason;                       // what: "softmax/block_row f16"
  std::vector<std::pair<std::string, std::string>> facts;  // "got", "golden" ...: the lines that a terminal shows
  std::string again;
  std::vector<std::string> alike;  // the commands that run the others again
};

// A kernel or another program with which a line compares ours.
struct Contender {
  std::string kernel;
  double us = 0;     // 0: no time; `why` has the reason
  double ratio = 0;  // its time over ours; 0: unknown
  std::optional<Interval> interval;
  bool elsewhere = false;  // timed by another program, not judged here
  bool beyond = false;     // the ratio exceeds what fusion can give
  std::string why;
};

inline constexpr std::array<const char*, 4> kContenders{"eager", "compile", "unfused", "vendor"};

struct SuiteLine {
  const SuitePlace* place = nullptr;
  const RecordFile* file = nullptr;  // the latest that has the line; all our times are from it
  std::string op, dtype, shape;
  std::string why;  // why no kernel of ours has a time
  std::vector<const TimedRow*> rows;
  const TimedRow *ours = nullptr, *unfused = nullptr;  // ours: the fastest of our kernels whose output was right
  std::array<std::vector<Contender>, 4> contenders;    // one list per entry of kContenders, the fastest first
  double limit_us = 0;                                 // at the ceiling measured in the same run
  double most = 0;                                     // the largest ratio that fusion alone can give; 0: unknown
  double claimed = 0;                                  // the largest published speedup; 0: none
  bool claimed_beyond = false;                         // `claimed` exceeds `most`
  // A row to take the problem's operations and bytes from: ours, else any; nullptr: nothing was timed.
  const TimedRow* any() const { return ours ? ours : rows.empty() ? nullptr : rows.front(); }
};

// Our fastest kernel against libraries and other programs on one problem, from the latest file that has both.
struct RankedRow {
  const RecordFile* file = nullptr;
  const TimedRow* ours = nullptr;
  double limit_us = 0;
  std::vector<Contender> others;  // those with a time, the fastest first; at least one
  const Contender& best() const { return others.front(); }
};

// A published table of a suite, with our times beside its claims.
struct RestatedTable {
  std::string suite, title;
  std::vector<SuiteLine> lines;
};

// The kernels of an op's ladder on one shape, from one file.
struct Ablation {
  const RecordFile* file = nullptr;
  std::vector<const TimedRow*> steps;
  double gain(std::size_t i) const { return i ? steps[i - 1]->time_us.p50 / steps[i]->time_us.p50 : 0; }  // 0 at i = 0
};

// Bytes that a kernel moves, and those of the unfused kernel on the same problem in the same file.
struct TrafficRow {
  const RecordFile* file = nullptr;
  std::string op, kernel, dtype, shape;
  double formula = 0, unfused_formula = 0;
  const CountedTraffic *counted = nullptr, *unfused_counted = nullptr;
  std::optional<DramBytes> dram, unfused_dram;
};

// A CUDA function and its needs per launch, for all shapes on which these are equal.
struct ResourceRow {
  const RecordFile* file = nullptr;
  std::string op, kernel, dtype;
  FunctionResources needs;
  std::optional<double> most_blocks{};  // over the shapes; needs.blocks is the least
  std::size_t shapes = 0;
};

inline constexpr double kLaunchUs = 5;  // below this limit the launches take most of the time, which the formula does not count

inline constexpr int kMarginBins = 20;  // each 0.1 wide; the last has all larger margins too

struct Report {
  std::vector<RecordFile> files;  // the oldest first
  std::vector<ReportRow> rows;    // sorted by op, then wrong outputs first, then the lowest share of the limit
  std::vector<ReportKernel> kernels;
  std::vector<ReportFailure> failures;
  std::size_t failed = 0;              // failed cases, rows and faults; `failures` has one entry per kind
  std::vector<RankedRow> ranked;       // sorted by op, then the lowest ratio first
  std::vector<RestatedTable> suites;   // in the order of the records
  std::vector<Ablation> ablations;     // sorted by op, dtype and shape
  std::vector<TrafficRow> traffic;     // sorted likewise
  std::vector<ResourceRow> resources;  // sorted by op, dtype and kernel
  std::vector<std::pair<const RecordFile*, const ProfileRow*>> profiles;
  std::array<std::int64_t, kMarginBins> margins{};            // cases in each bin
  std::int64_t faults_rejected = 0, faults_not_rejected = 0;  // by the bounds: one precision lower, last terms dropped, zeros
  std::string line;                                           // the verdict in one line
  bool ok() const { return failures.empty(); }
};

inline bool is_own(const std::string& kernel) { return kernel != "unfused" && !kernel.starts_with("baseline_"); }
double fusion_at_most(const TimedRow&);    // largest unfused over fused time, by formula at the row's ceilings; 0: unknown
std::string words(const SuitePlace&);      // the published figures as text, like "speedup 1.27x"
std::string library_of(const Contender&);  // whose code it is: "cuDNN", "cuBLASLt", "compile" ...

std::map<std::string, const JudgedCase*> latest_cases(const Report&);     // by repro line
std::map<std::string, const PlantedFault*> latest_faults(const Report&);  // by kernel, dtype and fault
// Each add_ function fills its parts of a report from `files` and `rows`, which must be there already.
void add_failures(Report&);
void add_suites(Report&);  // the published tables and the ablations
void add_ranked_rows(Report&);
void add_counts(Report&);  // traffic, resources and profiles
// Reads record files, in any order.  Throws BadInput for a file that cannot be read or holds no records.
Report report_of(const std::vector<std::string>& paths);
std::string to_html(const Report&);
std::string to_report_markdown(const Report&);
std::string to_csv(const Report&);

}  // namespace assay
