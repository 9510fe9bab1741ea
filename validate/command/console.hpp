// SPDX-License-Identifier: Apache-2.0
// What a run shows: progress on a terminal, failures as they come, then the table and the last line.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "validate/judge/power.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/records/record.hpp"

namespace assay {

// At most `width` characters of ASCII text; what is cut ends in an ellipsis.
std::string cut(const std::string& text, std::size_t width);

// A failed record as a block of text, its repro line last; with what became of it when it was shrunk.
std::string failure_text(const Record& r, const Shrunk* shrunk = nullptr);
// "o[batch 0, query 128, head 3, dim 17]", of the worst element.
std::string where_text(const Record& r);
// "deterministic: fails again with its seed (2 of 2) and with others (1 of 2)"
std::string label_text(const Shrunk& s);

class Console {
 public:
  enum class Show { everything, last_line, progress };
  // `hold`: failures are held back, the first of each kernel and dtype, to be shrunk and then shown.  `each_case`: the table has
  // a line a case, with its largest absolute error.
  Console(Show show, std::int64_t total, bool hold = false, bool each_case = false);

  void add(const Record& r);
  const std::vector<Record>& held() const { return held_; }
  void show(const Record& r, const Shrunk* shrunk);  // a block
  void say(const std::string& what);                 // on a terminal, until something else is shown
  // The table, what a reader must know beside it, the last line.
  void finish(const Tally& tally, const std::vector<PowerLine>& power = {});

 private:
  static constexpr int kShown = 10;  // failures
  bool hold(const Record& r);
  // The worst of each (op, kernel, dtype), or each case.
  struct Row {
    std::string op, kernel, dtype, at;
    std::int64_t cases = 0;
    double margin = 0, error = 0, seconds = 0;
  };
  Row& row_of(const Record& r);
  void progress(const Record& r);
  void clear();
  void table() const;
  void notes(const Tally& tally, const std::vector<PowerLine>& power) const;

  Show show_;
  bool terminal_;  // progress goes to stderr, so that a pipe gets none
  std::int64_t done_ = 0, total_;
  std::int64_t reduced_ = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> reduced_to_;  // the shortest and longest of each axis
  std::map<std::string, std::int64_t> skipped_;                              // by reason
  bool hold_, each_case_;
  std::vector<Record> held_;
  int failures_ = 0, unshown_ = 0;
  std::chrono::steady_clock::time_point last_progress_{};
  std::vector<Row> rows_;
};

}  // namespace assay
