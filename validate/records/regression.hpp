// SPDX-License-Identifier: Apache-2.0
// Compares two files of records, for `compare`: regressions of correctness, and changes of times.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "validate/records/record_file.hpp"

namespace assay {

enum class Change { faster, slower, same, inconclusive };
inline constexpr std::string_view kChanges[] = {"FASTER", "SLOWER", "SAME", "INCONCLUSIVE"};
constexpr std::string_view name(Change c) { return kChanges[static_cast<int>(c)]; }

// When a row counts as FASTER or SLOWER.  All conditions must hold, so that neither many samples of a small difference nor a few
// samples of a large one are enough.
struct TimeRule {
  double least_share = 0.02;  // smallest relative difference that counts; if the row's own spread (split_spread) is larger, that
  double least_us = 0.5;      // smallest difference of medians that counts: the step of the device's clock
  double most_q = 0.01;       // accepted false-discovery rate
  double confidence = 0.99;   // of the interval
  std::size_t least_samples = 30, least_processes = 6;  // on each side; samples per process
  std::uint64_t seed = 2026;
};

struct TimeChange {
  const TimedRow *base = nullptr, *now = nullptr;
  Change change = Change::inconclusive;
  double ratio = 1, delta_us = 0;  // of the medians: now / base and now - base
  Interval interval;               // of the ratio
  double p = 1, q = 1;
  double floor = 0;  // the relative difference that had to be exceeded: the rule's least_share or the spread of either side
  std::string why;   // the reason for INCONCLUSIVE or SAME
  // "binary unchanged", "binary changed", or empty if a code hash is missing.
  std::string_view binary() const;
};

struct RowPair {
  const TimedRow *base, *now;
};
// One result per pair, in order.  If `why_not` is not empty (another device), all are inconclusive for that reason.
std::vector<TimeChange> time_changes(const std::vector<RowPair>& pairs, const TimeRule& rule, const std::string& why_not = "");

// One sentence per regression, with what changed where both files have versions, the kernel or the judge: a case no longer
// passes, outputs no longer repeat bit for bit, a kernel's worst err/bound over the cases or rows of both files has grown by more
// than half, a row that was timed is left out; or the same verdict says less: a kernel declares other numerics, something is no
// longer checked, the sandbox is off, the backend is another.
std::vector<std::string> correctness_regressions(const RecordFile& base, const RecordFile& now);

struct Difference {
  std::vector<std::string> regressions;
  std::vector<TimeChange> times;            // worst first: by change (SLOWER, FASTER, INCONCLUSIVE, SAME), then by ratio
  std::vector<std::string> judges_changed;  // ops whose judge is of another version in the new file
  bool suites_changed = false;              // likewise
  std::size_t better = 0;                   // cases that did not pass in the base, and pass now
  std::size_t cases_in_both = 0, only_in_base = 0, only_in_now = 0;  // only_in_*: cases and rows
  std::size_t count(Change c) const;
  bool gate_holds() const { return regressions.empty() && count(Change::slower) == 0; }
};
// Throws BadInput if the files have no row and no case in common.
Difference difference(const RecordFile& base, const RecordFile& now, const TimeRule& rule);

// A/A: compares one half of a file's processes with the other, for several splits.  Every SLOWER and FASTER is a false alarm.
struct Calibration {
  std::size_t rows = 0, splits = 0, processes = 0;           // processes: per half
  std::array<std::size_t, 4> changes{};                      // by Change, over rows and splits
  double spread_median = 0, spread_p95 = 0, spread_max = 0;  // of |ratio - 1|, over rows and splits
  double false_alarm_rate() const;
};
// Throws BadInput if a row has fewer than four processes.
Calibration calibrate(const RecordFile& file, TimeRule rule);

}  // namespace assay
