// SPDX-License-Identifier: Apache-2.0
// What a report says, whatever it is written as: rows, kernels and failures of several files, worst first.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "validate/records/record_file.hpp"

namespace assay {

struct ReportRow {
  const RecordFile* file = nullptr;       // the latest that has it
  const TimedRow* row = nullptr;          // there
  const TimedRow* before = nullptr;       // of the run before, of the same suite on the same device
  std::vector<const SuitePlace*> suites;  // the tables that have it in that file
  std::string again;                      // the command that times it
};

struct ReportKernel {
  std::string op, kernel, dtype, again;  // again: the case of the worst margin
  std::size_t cases = 0, passed = 0, bad = 0, unsupported = 0;
  double margin = -1;         // below 0: nothing was compared
  double max_abs_error = -1;  // likewise; also of files from before it was recorded
};

// Failures of one kernel in the same way: one of them in full.
struct ReportFailure {
  std::string verdict, what, reason;                       // what: "softmax/block_row f16"
  std::vector<std::pair<std::string, std::string>> facts;  // "got", "golden" ...: what a terminal shows of it, line by line
  std::string again;
  std::vector<std::string> alike;  // the commands of the others
};

// What a line of a document's table is held against.
struct Contender {
  std::string kernel;
  double us = 0;     // 0: no time, and `why` says why
  double ratio = 0;  // its time over ours; 0: there is none
  std::optional<Interval> interval;
  bool elsewhere = false;  // another program, another process
  bool beyond = false;     // the ratio is more than fusion can give
  std::string why;
};

inline constexpr std::array<const char*, 4> kContenders{"eager", "compile", "unfused", "vendor"};

struct SuiteLine {
  const SuitePlace* place = nullptr;
  const RecordFile* file = nullptr;  // the latest that has the line: all of our times are of it
  std::string op, dtype, shape;
  std::string why;  // where there is none of ours
  std::vector<const TimedRow*> rows;
  const TimedRow *ours = nullptr, *unfused = nullptr;  // the fastest kernel of ours whose output was right
  std::array<std::vector<Contender>, 4> contenders;    // by kContenders, the fastest first
  double limit_us = 0;                                 // at the ceiling measured in the same run
  double most = 0;                                     // the ratio that fusion alone can give; 0: unknown
  double claimed = 0;                                  // the largest speedup that the document reported
  bool claimed_beyond = false;
  // Whose formula counts: ours, or what there is; nullptr: nothing was timed.
  const TimedRow* any() const { return ours ? ours : rows.empty() ? nullptr : rows.front(); }
};

// Ours against libraries and other programs on one problem, of the latest file that has both.
struct Standing {
  const RecordFile* file = nullptr;
  const TimedRow* ours = nullptr;
  double limit_us = 0;
  std::vector<Contender> others;  // that have a time, the fastest first; at least one
  const Contender& best() const { return others.front(); }
};

struct RestatedTable {
  std::string suite, title;
  std::vector<SuiteLine> lines;
};

// The kernels of an op's ladder on one shape, of one file.
struct Ablation {
  const RecordFile* file = nullptr;
  std::vector<const TimedRow*> steps;
  double gain(std::size_t i) const { return i ? steps[i - 1]->time_us.p50 / steps[i]->time_us.p50 : 0; }  // 0: the first
};

// Bytes of a kernel, and of the unfused pipeline beside it in the same file.
struct TrafficRow {
  const RecordFile* file = nullptr;
  std::string op, kernel, dtype, shape;
  double formula = 0, unfused_formula = 0;
  const CountedTraffic *counted = nullptr, *unfused_counted = nullptr;
  std::optional<DramBytes> dram, unfused_dram;
};

// A function as it was launched, over the shapes on which it needed the same.
struct ResourceRow {
  const RecordFile* file = nullptr;
  std::string op, kernel, dtype;
  FunctionResources needs;
  double most_blocks = 0;  // needs.blocks are the least
  std::size_t shapes = 0;
};

inline constexpr double kLaunchUs = 5;  // below it the launches decide, not what the formula counts

inline constexpr int kMarginBins = 20;  // of 0.1 each; what is beyond is in the last

struct Report {
  std::vector<RecordFile> files;  // the oldest first
  std::vector<ReportRow> rows;    // by op; wrong outputs first, then the lowest share of the limit
  std::vector<ReportKernel> kernels;
  std::vector<ReportFailure> failures;
  std::size_t failed = 0;              // cases and rows; failures has those alike once
  std::vector<Standing> standings;     // by op, the lowest ratio first
  std::vector<RestatedTable> suites;   // in the order of the records
  std::vector<Ablation> ablations;     // by op, dtype and shape
  std::vector<TrafficRow> traffic;     // likewise
  std::vector<ResourceRow> resources;  // likewise
  std::vector<std::pair<const RecordFile*, const ProfileRow*>> profiles;
  std::array<std::int64_t, kMarginBins> margins{};            // cases in each bin
  std::int64_t faults_rejected = 0, faults_not_rejected = 0;  // precisions one lower, terms dropped
  std::string line;                                           // the verdict
  bool ok() const { return failures.empty(); }
};

inline bool is_own(const std::string& kernel) { return kernel != "unfused" && !kernel.starts_with("baseline_"); }
double fusion_at_most(const TimedRow&);    // by the formula's bytes and operations at the row's ceilings; 0: unknown
std::string words(const SuitePlace&);      // what the document reported, as it did
std::string library_of(const Contender&);  // "cuDNN", "cuBLASLt", "compile" ...: whose code it is

std::map<std::string, const JudgedCase*> latest_cases(const Report&);     // by repro line
std::map<std::string, const PlantedFault*> latest_faults(const Report&);  // by kernel, dtype and fault
void add_failures(Report&);                                               // from the files; those of rows from `rows`
void add_suites(Report&);     // the documents' tables and the ablations, from the files
void add_standings(Report&);  // from the files
void add_counts(Report&);     // traffic, resources and profiles, from the files
Report report_of(const std::vector<std::string>& paths);
std::string to_html(const Report&);
std::string to_report_markdown(const Report&);
std::string to_csv(const Report&);

}  // namespace assay
