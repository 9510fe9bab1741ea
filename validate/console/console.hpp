// SPDX-License-Identifier: Apache-2.0
// What a run shows: progress on a terminal, failures as they come, then one failure a reason, the table and the last line.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "validate/cases/across.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/records/record.hpp"

namespace assay {

// At most `width` bytes of a text; what is cut ends in an ellipsis.
std::string cut(const std::string& text, std::size_t width);
// Text that starts in column 3, broken at spaces.
std::string wrapped(std::string text, std::size_t width);
// Columns of what is printed: the terminal's, or 80.
std::size_t stdout_width();

// Whether what goes to a descriptor is coloured, by --color auto, always or never; auto minds NO_COLOR and TERM=dumb.
bool colours(std::string_view choice, int fd);
enum class Hue { red = 31, green = 32, yellow = 33 };
std::string painted(std::string_view text, Hue hue, bool colour);

// A command that runs the case of a repro line again, by this program's name.
std::string replay_text(const std::string& repro);
// A bad record in three lines, as it comes.
std::string short_text(const Record& r, bool colour = false);
// A bad record as a block of text, the command that runs it again last; with what became of it when it was shrunk, and with
// what sets such cases apart.
std::string failure_text(const Record& r, const Shrunk* shrunk = nullptr, const std::string& across = {}, bool colour = false);
// "o[batch 0, query 128, head 3, dim 17]", of the worst element.
std::string where_text(const Record& r);
// "deterministic: fails again with its seed (2 of 2) and with others (1 of 2)"
std::string label_text(const Shrunk& s);
// "about 40 s left"; empty while nobody can say.
std::string time_left(double seconds, std::int64_t done, std::int64_t total);

// On a terminal, what is being done, until it ends or something else is shown.
class Doing {
 public:
  explicit Doing(const std::string& what);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
};

class Console {
 public:
  enum class Show { everything, last_line, progress };
  // `each_case`: the table has a line a case, with its largest absolute error.
  Console(Show show, std::int64_t total, bool colour = false, bool each_case = false);

  void add(const Record& r);
  const std::vector<Record>& failures() const { return failures_; }  // the first of each reason
  void show(const Record& failure, const Shrunk* shrunk);            // the whole block of one of them
  void say(const std::string& what);                                 // on a terminal, until something else is shown
  // The table, what a reader must know beside it, the last line.
  void finish(const Tally& tally, const std::vector<PowerLine>& power = {});

 private:
  static constexpr std::size_t kShown = 10;  // failures
  // The worst of each (op, kernel, dtype), or each case.
  struct Row {
    std::string op, kernel, dtype, at;
    std::int64_t cases = 0;
    double margin = 0, error = 0, seconds = 0;
  };
  Row& row_of(const Record& r);
  void add_bad(const Record& r);
  void progress(const Record& r);
  void clear();
  void table() const;
  void notes(const Tally& tally, const std::vector<PowerLine>& power) const;

  Show show_;
  bool terminal_, colour_, each_case_;  // terminal: progress goes to stderr, so that a pipe gets none
  std::int64_t done_ = 0, total_, bad_ = 0;
  std::int64_t reduced_ = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> reduced_to_;  // the shortest and longest of each axis
  std::map<std::string, std::int64_t> skipped_;                              // by reason
  std::vector<Record> failures_;
  std::map<std::string, std::int64_t> unshown_;  // cases of reasons beyond kShown
  Across across_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_progress_{};
  std::vector<Row> rows_;
};

}  // namespace assay
