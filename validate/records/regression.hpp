// SPDX-License-Identifier: Apache-2.0
// Two files of records, one against the other: what became wrong, then what became slower.
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

// When a time is another time.  All of it must hold, so that neither many samples of a small difference nor a few of a large
// one are enough.
struct TimeRule {
  double least_share = 0.02;  // a difference of less is of no interest; raised to what a row differs from itself by
  double least_us = 0.5;      // the step of the device's clock
  double most_q = 0.01;       // false discoveries that are put up with, as a share of the discoveries
  double confidence = 0.99;   // of the interval
  std::size_t least_samples = 30, least_processes = 6;  // of each side; samples of each process
  std::uint64_t seed = 2026;
};

struct TimeChange {
  const TimedRow *base = nullptr, *now = nullptr;
  Change change = Change::inconclusive;
  double ratio = 1, delta_us = 0;  // of the medians, now to base
  Interval interval;               // of the ratio
  double p = 1, q = 1;
  double floor = 0;  // the share that had to be cleared: the rule's, or what either side differs from itself by
  std::string why;   // INCONCLUSIVE or SAME: the reason
  // "binary unchanged", "binary changed", or nothing where a hash is missing.
  std::string_view binary() const;
};

struct RowPair {
  const TimedRow *base, *now;
};
// In the order given.  `why_not`: why none of them can be compared (another device); empty: they can.
std::vector<TimeChange> time_changes(const std::vector<RowPair>& pairs, const TimeRule& rule, const std::string& why_not = "");

// One sentence each: a case that passed and does not, outputs that were equal at every run and are not, a kernel's worst
// err/bound over the cases of both grown by half, a row that was timed and is left out.
std::vector<std::string> correctness_regressions(const RecordFile& base, const RecordFile& now);

struct Difference {
  std::vector<std::string> regressions;
  std::vector<TimeChange> times;  // worst first: by change (SLOWER, FASTER, INCONCLUSIVE, SAME), then by ratio
  std::size_t cases_in_both = 0, only_in_base = 0, only_in_now = 0;  // cases and rows
  std::size_t count(Change c) const;
  bool gate_holds() const { return regressions.empty() && count(Change::slower) == 0; }
};
// Throws BadInput where they have nothing in common.
Difference difference(const RecordFile& base, const RecordFile& now, const TimeRule& rule);

// A/A: a file's processes against each other, over several ways to halve them.  Every SLOWER and FASTER is a false alarm.
struct Calibration {
  std::size_t rows = 0, splits = 0, processes = 0;           // processes: of a half
  std::array<std::size_t, 4> changes{};                      // by Change, over rows and splits
  double spread_median = 0, spread_p95 = 0, spread_max = 0;  // of |ratio - 1|, over rows and splits
  double false_alarm_rate() const;
};
// Throws BadInput where the rows have fewer than four processes.
Calibration calibrate(const RecordFile& file, TimeRule rule);

}  // namespace assay
