// SPDX-License-Identifier: Apache-2.0
// Prints a run: progress on a terminal, each failure as it comes, then one failure per reason in full, the table, the last line.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "validate/cases/across.hpp"
#include "validate/console/declines.hpp"
#include "validate/judge/declared.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/shrink.hpp"
#include "validate/problem/numerics/habits.hpp"
#include "validate/records/record.hpp"

namespace assay {

// Returns a text of at most `width` bytes as it is, of a longer one the first `width` - 1 bytes and an ellipsis.
std::string cut(const std::string& text, std::size_t width);
// Breaks a text at spaces into lines of `width` columns.  Assumes two spaces before the first line; indents the others by 4.
std::string wrapped(std::string text, std::size_t width);
// The width of standard output in columns; 80 if it is no terminal.
std::size_t stdout_width();

// Whether to colour output to `fd`.  `choice`: always, never or auto: on a terminal, unless NO_COLOR or TERM=dumb is set.
bool colours(std::string_view choice, int fd);
enum class Hue { red = 31, green = 32, yellow = 33 };
std::string painted(std::string_view text, Hue hue, bool colour);

// The command that replays a repro line, with this program's name.  `loaded`: see Record.
std::string replay_text(const std::string& repro, const std::string& loaded = {});
std::string replay_text(const Record& r);
// The same after other cases, one to a line.
std::string replay_text(const std::vector<std::string>& after, const Record& r);
// A bad record in three lines, printed when it arrives.
std::string short_text(const Record& r, bool colour = false);
// A bad record as a block of text that ends with the command that runs it again.  `shrunk`: the result of shrinking it; `across`:
// the sentence on what sets such cases apart from those that passed; `would_pass`: that on what it might declare.
std::string failure_text(const Record& r, const Shrunk* shrunk = nullptr, const std::string& across = {},
                         const std::string& would_pass = {}, bool colour = false);
// Whether a failing record shows what another shows more clearly: with less doubt, in enough elements to make a pattern, then in
// a plainer case, then by fewer elements.
bool clearer(const Record& a, const Record& b);
// Prints all that judging an output has shown, a line for each.
void print_judged(const Record& r, bool colour);
// The place of the worst element, like "o[batch 0, query 128, head 3, dim 17]".
std::string where_text(const Record& r);
// "deterministic: fails again with its seed (2 of 2) and with others (1 of 2)"
std::string label_text(const Shrunk& s);
// "about 40 s left"; empty while too little is done for an estimate.
std::string time_left(double seconds, std::int64_t done, std::int64_t total);

// Shows on a terminal what is being done, until this object ends or something else is shown.
class Doing {
 public:
  explicit Doing(const std::string& what);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
};

class Console {
 public:
  enum class Show { everything, last_line, progress };  // progress: that alone
  // `total`: the records to expect.  `each_case`: the table has one line per case, with its largest absolute error.
  Console(Show show, std::int64_t total, bool colour = false, bool each_case = false);

  void add(const Record& r);
  const std::vector<Record>& failures() const { return failures_; }  // of each reason the clearest
  void show(const Record& failure, const Shrunk* shrunk);            // prints its whole block
  bool declined() const { return declines_.any(); }                  // whether a kernel takes too few of the cases
  void say(const std::string& what);                                 // shows it on a terminal until something else is shown
  // Prints the table, the notes below it and the last line.
  void finish(const Tally& tally, const std::vector<PowerLine>& power = {}, const std::vector<DeclaredLine>& declared = {},
              const std::vector<SuggestedLine>& suggested = {});

 private:
  static constexpr std::size_t kShown = 10;  // failures
  // A line of the table: one (op, kernel, dtype), or one case if `each_case`.  `at`: the case with the largest margin.
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
  void notes(const Tally& tally, const std::vector<PowerLine>& power, const std::vector<DeclaredLine>& declared,
             const std::vector<SuggestedLine>& suggested) const;

  Show show_;
  bool terminal_, colour_, each_case_;  // terminal_: stderr is one, and gets the progress
  std::int64_t done_ = 0, total_, bad_ = 0;
  std::int64_t reduced_ = 0;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> reduced_to_;  // least and largest extent, by axis
  std::map<std::string, std::set<std::string>> fidelity_;                    // kernels by what their worker says of it
  std::map<std::string, std::set<std::string>> held_to_;  // kernels by what they are held to, but built-in ones
  std::string not_checked_;                               // of loaded kernels
  std::map<std::string, std::int64_t> skipped_;           // by reason
  Declines declines_;
  std::vector<Record> failures_;
  std::map<std::string, std::int64_t> unshown_;  // cases of each reason beyond the first kShown
  Across across_;
  Habits habits_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_progress_{};
  std::vector<Row> rows_;
};

}  // namespace assay
