// SPDX-License-Identifier: Apache-2.0
// compare: compares a record file with a baseline, calibrates that comparison by A/A, and accepts a file as the new baseline.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/command/commands.hpp"
#include "validate/console/table.hpp"
#include "validate/records/output_file.hpp"
#include "validate/records/regression.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

void print(const TimeChange& t) {
  print_wrapped(fmt::format("{:<12} {}", name(t.change), t.now->key()));
  std::string text =
      fmt::format("  {:.2f} -> {:.2f} µs  {:+.1f} %", t.base->time_us.p50, t.now->time_us.p50, 100 * (t.ratio - 1));
  if (t.interval.high > 0)
    text += fmt::format(" [{:+.1f}, {:+.1f}]  q = {:.1g}", 100 * (t.interval.low - 1), 100 * (t.interval.high - 1), t.q);
  if (!t.binary().empty()) text += fmt::format("  {}", t.binary());
  if (!t.why.empty()) text += t.why.starts_with(" · ") ? t.why : " · " + t.why;
  print_wrapped(text);
}

int show(const Difference& d, const CompareFlags& flags) {
  constexpr std::size_t kShown = 10;  // INCONCLUSIVE rows
  if (!d.regressions.empty()) {
    fmt::print("CORRECTNESS: {} regressed\n", d.regressions.size());
    for (const std::string& line : d.regressions) fmt::print("  {}\n", line);
    fmt::print("\n");
  }
  std::size_t inconclusive = 0;
  for (const TimeChange& t : d.times) {
    const bool decided = t.change == Change::slower || t.change == Change::faster;
    if (t.change == Change::same && !flags.all) continue;
    if (!decided && !flags.all && inconclusive++ >= kShown) continue;
    print(t);
  }
  if (inconclusive > kShown) fmt::print("  and {} more INCONCLUSIVE  (--all)\n", inconclusive - kShown);
  if (!d.times.empty()) fmt::print("\n");
  if (!d.judges_changed.empty())
    print_wrapped(
        fmt::format("the judge changed for {}: their verdicts may differ for that reason", fmt::join(d.judges_changed, ", ")));
  const bool other_cases = d.only_in_base || d.only_in_now;
  if (d.suites_changed && other_cases) fmt::print("the suites changed, so there are other cases\n");
  if (d.only_in_base) fmt::print("{} rows and cases of the base are not in the new file\n", d.only_in_base);
  if (d.only_in_now) fmt::print("{} rows and cases of the new file are not in the base\n", d.only_in_now);
  std::string times;
  if (!d.times.empty())
    times = fmt::format("SLOWER {} of {} rows · FASTER {} · SAME {} · INCONCLUSIVE {} · ", d.count(Change::slower),
                        d.times.size(), d.count(Change::faster), d.count(Change::same), d.count(Change::inconclusive));
  fmt::print("{}correctness {}{}{}\n", times,
             !d.regressions.empty() ? "REGRESSED"
             : d.better             ? "better"
                                    : "unchanged",
             d.cases_in_both ? fmt::format(" over {} cases", d.cases_in_both) : "",
             d.better ? fmt::format("; failed before, pass now: {}", d.better) : "");
  return d.gate_holds() ? kAllPassed : kVerdictFailed;
}

int show_calibration(const RecordFile& file, const TimeRule& rule) {
  constexpr double kMost = 0.01;
  const Calibration c = calibrate(file, rule);
  const auto count = [&](Change change) { return c.changes[static_cast<std::size_t>(change)]; };
  fmt::print("A/A of '{}': {} rows, {} ways to put {} processes against {} others\n", plain(file.path), c.rows, c.splits,
             c.processes, c.processes);
  fmt::print("  |ratio - 1| of the medians: {:.2f} % median, {:.2f} % 95th percentile, {:.2f} % at most\n", 100 * c.spread_median,
             100 * c.spread_p95, 100 * c.spread_max);
  fmt::print("  SAME {} · INCONCLUSIVE {} · SLOWER {} · FASTER {}\n", count(Change::same), count(Change::inconclusive),
             count(Change::slower), count(Change::faster));
  fmt::print("false-alarm rate {:.2f} %: {} of {}\n", 100 * c.false_alarm_rate(), count(Change::slower) + count(Change::faster),
             c.rows * c.splits);
  return c.false_alarm_rate() <= kMost ? kAllPassed : kVerdictFailed;
}

int accept(const std::string& base, const RecordFile& now, const std::string& reason, bool partial) {
  if (!now.incomplete.empty() && !partial)
    throw BadInput(fmt::format("'{}' cannot be a baseline: {}  (--partial accepts that)", now.path, now.incomplete));
  if (base.ends_with(".gz")) throw BadInput(fmt::format("--accept writes plain text: name the baseline '{}' without .gz", base));
  for (const JudgedCase& c : now.cases)
    if (c.bad()) throw BadInput(fmt::format("'{}' cannot be a baseline: {} {}", now.path, c.verdict, c.repro));
  for (const TimedRow& r : now.rows)
    if (!(r.margin <= 1)) throw BadInput(fmt::format("'{}' cannot be a baseline: a wrong output of {}", now.path, r.key()));
  for (const TimedRow& r : now.rows)
    if (r.planted > 0) throw BadInput(fmt::format("'{}' cannot be a baseline: slowdowns were planted in it", now.path));
  std::string replaces;
  if (::access(base.c_str(), F_OK) == 0) replaces = read_records(base).commit;
  const std::time_t t = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  Json head = Json::parse(now.lines.at(0));
  head["accepted"] = {{"reason", reason}, {"date", date}};
  if (!replaces.empty()) head["accepted"]["replaces"] = replaces;
  std::string text = head.dump();
  for (std::size_t i = 1; i < now.lines.size(); ++i) text += "\n" + now.lines[i];
  write_whole(base, text);
  fmt::print("'{}' is the baseline: {} rows, {} cases of commit {}. {}\n", base, now.rows.size(), now.cases.size(), now.commit,
             reason);
  return kAllPassed;
}

}  // namespace

int compare_command(const CompareFlags& flags) {
  TimeRule rule;
  rule.least_share = 0.01 * flags.floor_percent;
  rule.seed = flags.seed;
  if (flags.calibrate) {
    if (flags.files.size() != 1 || flags.accept) throw BadInput("compare --calibrate takes one file of records");
    return show_calibration(read_records(flags.files[0]), rule);
  }
  if (flags.files.size() != 2) throw BadInput("compare takes two files of records: the baseline and the new one");
  if (flags.accept != !flags.reason.empty())
    throw BadInput(flags.accept ? "--accept needs a reason: -m REASON" : "-m is the reason of an --accept, which is missing");
  if (flags.accept) return accept(flags.files[0], read_records(flags.files[1]), flags.reason, flags.partial);
  const RecordFile both[] = {read_records(flags.files[0]), read_records(flags.files[1])};
  const bool incomplete = say_incomplete(both);
  return exit_code(show(difference(both[0], both[1], rule), flags), incomplete, flags.partial);
}

}  // namespace assay
