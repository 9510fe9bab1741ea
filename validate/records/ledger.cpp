// SPDX-License-Identifier: Apache-2.0
#include "validate/records/ledger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"

namespace assay {

namespace {

constexpr std::string_view kFirstLine = "assay ledger 1", kNone = "-";
constexpr double kUsualMove = 1.05;  // factor by which an err/bound may move where the judge or the kernel changed

using Versions = std::map<std::string, std::string>;

std::string stem_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string file = slash == path.npos ? path : path.substr(slash + 1);
  return file.substr(0, file.find('.'));
}

// Adds versions to those of the files before.
void merge(Versions& all, const Versions& more, const std::string& path) {
  for (const auto& [name, version] : more)
    if (const auto at = all.emplace(name, version).first; at->second != version)
      throw BadInput(fmt::format("'{}' is of another version of {} than the files before it", path, name));
}

std::vector<std::string_view> fields_of(std::string_view line, char between) {
  std::vector<std::string_view> fields;
  for (std::size_t start = 0; start <= line.size();) {
    const std::size_t end = std::min(line.find(between, start), line.size());
    fields.push_back(line.substr(start, end - start));
    start = end + 1;
  }
  return fields;
}

// An err/bound as a number, NaN if it is none.
double margin_value(const std::string& margin) {
  double v = 0;
  const auto [end, error] = std::from_chars(margin.data(), margin.data() + margin.size(), v);
  const bool whole = error == std::errc() && end == margin.data() + margin.size();
  return whole ? v : std::numeric_limits<double>::quiet_NaN();
}

// Throws BadInput unless a verdict, its tiers and its err/bound are such.
void check_line(const LedgerLine& line) {
  const Names verdicts(std::begin(kVerdicts), std::end(kVerdicts)), tiers(std::begin(kTiers), std::end(kTiers));
  const auto require = [](const char* kind, std::string_view word, const Names& known) {
    if (std::find(known.begin(), known.end(), word) == known.end()) throw BadInput(unknown(kind, word, known));
  };
  require("verdict", line.verdict, verdicts);
  if (line.tiers != kNone)
    for (const std::string_view tier : fields_of(line.tiers, ',')) require("tier", tier, tiers);
  if (line.margin != kNone && line.margin != "nan" && !(margin_value(line.margin) >= 0))
    throw BadInput(fmt::format("err/bound is '{}', and a number was expected", line.margin.substr(0, 40)));
}

// Reads a line behind the first into the ledger.
void take(Ledger& ledger, std::string_view line) {
  const std::vector<std::string_view> fields = fields_of(line, '\t');
  const auto text = [&](std::size_t i) {
    if (fields[i].empty()) throw BadInput(fmt::format("the field behind '{}' is empty", fields[i ? i - 1 : 0]));
    return std::string(fields[i]);
  };
  const auto once = [&](Versions& all) {
    if (!all.emplace(text(1), text(2)).second) throw BadInput(fmt::format("it has '{}' twice", text(1)));
  };
  if (fields.size() == 2 && fields[0] == "commit") ledger.commit = text(1);
  else if (fields.size() == 2 && fields[0] == "suites") ledger.suites = text(1);
  else if (fields.size() == 3 && fields[0] == "judge") once(ledger.judges);
  else if (fields.size() == 3 && fields[0] == "kernel") once(ledger.kernels);
  else if (fields.size() == 6 && (fields[0] == "sound" || fields[0] == "fault"))
    check_line(ledger.lines.emplace_back(LedgerLine{text(1), fields[0] == "fault", text(2), text(3), text(4), text(5)}));
  else throw BadInput("no line of a ledger");
}

// The lines of a kernel in both ledgers.
struct Both {
  std::vector<const LedgerLine*> old, now;
};

const LedgerLine* first_bad(const std::vector<const LedgerLine*>& lines) {
  const auto at = std::find_if(lines.begin(), lines.end(), [](const LedgerLine* l) { return l->bad(); });
  return at == lines.end() ? nullptr : *at;
}

// By which factor, 1 or more, two err/bound differ; infinite if only one is there or only one is infinite.
double factor_between(const std::string& a, const std::string& b) {
  if (a == b) return 1;
  const double factor = margin_value(a) / margin_value(b);
  if (!(factor > 0)) return std::numeric_limits<double>::infinity();
  return std::max(factor, 1 / factor);
}

class Comparison {
 public:
  Comparison(const Ledger& old, const Ledger& now) : old_(old), now_(now) {
    versions("judge of ", old.judges, now.judges);
    versions("kernel ", old.kernels, now.kernels);
    if (old.suites != now.suites) d_.changed.push_back("the suites");
  }

  LedgerDifference run() {
    std::map<std::string, Both> kernels;
    for (const LedgerLine& line : old_.lines) kernels[line.kernel()].old.push_back(&line);
    for (const LedgerLine& line : now_.lines) kernels[line.kernel()].now.push_back(&line);
    for (const auto& [name, both] : kernels) {
      if (both.old.empty() || both.now.empty()) only_in_one(name, both);
      else if (both.now[0]->faulty) fault(name, both);
      cases(name, both);
    }
    return std::move(d_);
  }

 private:
  void versions(const char* what, const Versions& old, const Versions& now) {
    for (const auto& [name, version] : now)
      if (const auto at = old.find(name); at != old.end() && at->second != version) d_.changed.push_back(what + name);
  }

  static bool same(const Versions& old, const Versions& now, const std::string& name) {
    const auto a = old.find(name), b = now.find(name);
    return a != old.end() && b != now.end() && a->second == b->second;
  }
  // Whether neither the kernel of a line nor its judge changed, as far as their versions are known.
  bool nothing_changed(const LedgerLine& line) const {
    const std::string kernel = line.repro.substr(0, line.repro.find(' '));
    return same(old_.kernels, now_.kernels, kernel) && same(old_.judges, now_.judges, kernel.substr(0, kernel.find('/')));
  }

  void only_in_one(const std::string& name, const Both& both) {
    const LedgerLine* was = first_bad(both.old);
    if (both.now.empty() && was && both.old[0]->faulty) d_.lost.push_back(fmt::format("{}: it is not in the new ledger", name));
    else d_.told.push_back(fmt::format("{} is only in the {} ledger", name, both.now.empty() ? "old" : "new"));
  }

  void fault(const std::string& name, const Both& both) {
    ++d_.faults;
    const LedgerLine *was = first_bad(both.old), *is = first_bad(both.now);
    if (was && !is) d_.lost.push_back(fmt::format("{}: {} by {} in {}", name, was->verdict, was->tiers, was->repro));
    if (!was && is) d_.told.push_back(fmt::format("{} is found now, by {}: {}", name, is->tiers, is->repro));
    if (was && is && was->tiers != is->tiers)
      d_.told.push_back(fmt::format("{} was found by {}, and is by {}", name, was->tiers, is->tiers));
  }

  // Compares a kernel case by case.
  void cases(const std::string& name, const Both& both) {
    std::map<std::string_view, const LedgerLine*> by_repro;
    for (const LedgerLine* line : both.old) by_repro[line->repro] = line;
    std::size_t found = 0, moved = 0, unexplained = 0;
    double furthest = 1;
    std::string where;
    for (const LedgerLine* is : both.now) {
      const auto at = by_repro.find(is->repro);
      if (at == by_repro.end()) continue;
      ++found;
      const LedgerLine& was = *at->second;
      if (!is->faulty && is->bad() && !was.bad())
        d_.alarms.push_back(fmt::format("{} by {}: {}", is->verdict, is->tiers, is->repro));
      if (!is->faulty && was.bad() && !is->bad()) d_.told.push_back(fmt::format("{} now: {}", is->verdict, is->repro));
      const double factor = factor_between(was.margin, is->margin);
      const bool same_code = nothing_changed(*is);
      if (factor <= (same_code ? 1 : kUsualMove)) continue;
      ++moved;
      unexplained += same_code;
      if (factor > furthest || where.empty()) {
        furthest = factor;
        where = fmt::format("{} -> {} at {}", was.margin, is->margin, is->repro);
      }
    }
    d_.in_both += found;
    d_.only_new += both.now.size() - found;
    d_.only_old += both.old.size() - found;
    if (!moved) return;
    d_.unexplained |= unexplained > 0;
    d_.moved.push_back(fmt::format("{}: {} of {} cases{}; most {}", name, moved, found,
                                   unexplained ? ", though neither kernel nor judge changed" : "", where));
  }

  const Ledger &old_, &now_;
  LedgerDifference d_;
};

}  // namespace

std::string LedgerLine::kernel() const { return set + " " + repro.substr(0, repro.find(' ')); }
bool LedgerLine::bad() const {
  return verdict == "failed" || verdict == "crashed" || verdict == "timeout" || verdict == "suspect";
}

Ledger ledger_of(std::span<const RecordFile> sound, std::span<const RecordFile> faults) {
  Ledger ledger;
  std::set<std::string> sets;
  for (const bool faulty : {false, true})
    for (const RecordFile& f : faulty ? faults : sound) {
      if (!f.incomplete.empty()) throw BadInput(fmt::format("'{}': {}", f.path, f.incomplete));
      if (f.judges.empty()) throw BadInput(fmt::format("'{}' does not say by which judge it was made", f.path));
      if (ledger.lines.empty()) {
        ledger.commit = f.commit;
        ledger.suites = f.suites;
      }
      if (ledger.suites != f.suites) throw BadInput(fmt::format("'{}' is of other suites than the files before it", f.path));
      merge(ledger.judges, f.judges, f.path);
      merge(ledger.kernels, f.kernels, f.path);
      const std::string set = stem_of(f.path);
      if (!sets.insert(set).second) throw BadInput(fmt::format("'{}': there are two files '{}'", f.path, set));
      for (const JudgedCase& c : f.cases)
        ledger.lines.push_back({set, faulty, c.verdict,
                                c.caught_by.empty() ? std::string(kNone) : fmt::format("{}", fmt::join(c.caught_by, ",")),
                                c.margin ? fmt::format("{:.4g}", *c.margin) : std::string(kNone), c.repro});
    }
  std::erase_if(ledger.kernels, [](const auto& kernel) { return kernel.second.empty(); });
  return ledger;
}

std::string to_text(const Ledger& ledger) {
  std::string text = fmt::format("{}\ncommit\t{}\nsuites\t{}\n", kFirstLine, ledger.commit, ledger.suites);
  for (const auto& [op, version] : ledger.judges) text += fmt::format("judge\t{}\t{}\n", op, version);
  for (const auto& [kernel, version] : ledger.kernels) text += fmt::format("kernel\t{}\t{}\n", kernel, version);
  for (const LedgerLine& l : ledger.lines)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", l.faulty ? "fault" : "sound", l.set, l.verdict, l.tiers, l.margin, l.repro);
  text.pop_back();  // write_whole() ends the last line
  return text;
}

Ledger read_ledger(const std::string& path) {
  std::string why;
  const std::optional<std::string> text = read_file(path, why);
  if (!text) throw BadInput(fmt::format("'{}': {}", path, why));
  std::vector<std::string_view> lines = fields_of(*text, '\n');
  if (lines.back().empty()) lines.pop_back();
  if (lines.empty() || lines[0] != kFirstLine)
    throw BadInput(fmt::format("'{}' is no ledger: its first line is not '{}'", path, kFirstLine));
  Ledger ledger;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    try {
      take(ledger, lines[i]);
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("{}:{}: {}", path, i + 1, e.what()));
    }
  }
  if (ledger.lines.empty()) throw BadInput(fmt::format("'{}' holds no verdict", path));
  return ledger;
}

LedgerDifference difference(const Ledger& old, const Ledger& now) { return Comparison(old, now).run(); }

}  // namespace assay
