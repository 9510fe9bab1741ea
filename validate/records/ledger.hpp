// SPDX-License-Identifier: Apache-2.0
// A ledger: the verdicts of a whole state of the tree, to be compared with those of another (`validate ledger`, `make ledger`).
// It shows whether a change of the judge, the suites or the simulated machine loses a fault or wrongs a sound kernel.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "validate/records/record_file.hpp"

namespace assay {

struct LedgerLine {
  std::string set;                            // the name of the record file that it is from, without its folder and ending
  bool faulty = false;                        // whether the kernel is one that must fail
  std::string verdict, tiers, margin, repro;  // tiers: "T1,T4"; margin: err/bound, four digits; "-": none

  std::string kernel() const;  // of the set: "witnesses softmax/half_accumulator"
  bool bad() const;
};

struct Ledger {
  std::string commit, suites;
  std::map<std::string, std::string> judges, kernels;  // versions, as in RecordFile
  std::vector<LedgerLine> lines;
};

// The ledger of these record files.  Throws BadInput if they are not of one state of the tree.
Ledger ledger_of(std::span<const RecordFile> sound, std::span<const RecordFile> faults);
std::string to_text(const Ledger& ledger);
// Throws BadInput, naming file and line.
Ledger read_ledger(const std::string& path);

// What differs.  Each entry is a sentence.
struct LedgerDifference {
  std::vector<std::string> lost;    // faults that some case found, and none finds now
  std::vector<std::string> alarms;  // sound kernels that a case fails, and did not
  std::vector<std::string>
      moved;  // kernels whose err/bound moved, though neither they nor the judge changed, or by more than 5 %
  std::vector<std::string> changed;  // judges, suites and kernels of another version
  std::vector<std::string> told;     // faults that another tier finds, alarms that are gone, kernels that are not in both
  std::size_t faults = 0, in_both = 0, only_old = 0, only_new = 0;  // kernels that must fail, in both; lines
  bool unexplained = false;                                         // an err/bound moved though neither kernel nor judge changed
  bool holds() const { return lost.empty() && alarms.empty() && !unexplained; }
};
LedgerDifference difference(const Ledger& old, const Ledger& now);

}  // namespace assay
