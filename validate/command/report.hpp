// SPDX-License-Identifier: Apache-2.0
// What a report says, whatever it is written as: rows, kernels and failures of several files, worst first.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "validate/record_file.hpp"

namespace assay {

struct ReportRow {
  const TimedRow* row = nullptr;                        // of the latest file that has it
  const TimedRow* before = nullptr;                     // of the file before
  std::vector<std::pair<std::string, double>> history;  // date and median, the oldest first
  std::string again;                                    // the command that times it
};

struct ReportKernel {
  std::string op, kernel, dtype, again;  // again: the case of the worst margin
  std::size_t cases = 0, passed = 0, bad = 0, unsupported = 0;
  double margin = -1;         // below 0: nothing was compared
  double max_abs_error = -1;  // likewise; also of files from before it was recorded
};

struct ReportFailure {
  std::string verdict, reason, pattern, again;
};

inline constexpr int kMarginBins = 20;  // of 0.1 each; what is beyond is in the last

struct Report {
  std::vector<RecordFile> files;  // the oldest first
  std::vector<ReportRow> rows;    // by op; wrong outputs first, then the lowest share of the limit
  std::vector<ReportKernel> kernels;
  std::vector<ReportFailure> failures;
  std::map<std::string, std::vector<std::int64_t>> margins;  // cases in each bin, by op
  std::string line;                                          // the verdict
  bool ok() const { return failures.empty(); }
};

Report report_of(const std::vector<std::string>& paths);
std::string to_html(const Report&);
std::string to_report_markdown(const Report&);
std::string to_csv(const Report&);

}  // namespace assay
