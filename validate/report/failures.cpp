// SPDX-License-Identifier: Apache-2.0
// Collects a report's failures, with the same lines as on a terminal (validate/console/console.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "validate/base/error.hpp"
#include "validate/cases/across.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/problem/numerics/habits.hpp"
#include "validate/report/report.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

namespace {

std::string where_of(const JudgedCase& c) {
  std::string index = fmt::format("{}", fmt::join(c.worst->index, ", "));
  if (const Op* op = find_op(c.op))  // a record may name an op that this build lacks
    for (const TensorSpec& t : op->tensors)
      if (t.name == c.worst->tensor) index = index_text(t.axes, c.worst->index);
  return fmt::format("{}[{}]{}", c.worst->tensor, index, c.worst->tile.empty() ? "" : "      " + c.worst->tile);
}

// The words of a repro line after the kernel and the dtype, without the seed.
std::vector<std::string> case_words(const std::string& repro) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < repro.size();) {
    const std::size_t end = std::min(repro.find(' ', at), repro.size());
    all.push_back(repro.substr(at, end - at));
    at = end + 1;
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), 2)));
  std::erase_if(all, [](const std::string& w) { return w.starts_with("seed="); });
  return all;
}

std::string smallest_text(const ShrunkCase& s) {
  const std::vector<std::string> small = case_words(s.smallest);
  std::vector<std::string> cut;
  for (const std::string& word : case_words(s.of))
    if (std::find(small.begin(), small.end(), word) == small.end()) cut.push_back(word);
  return fmt::format("{}   (shrunk from {})", fmt::join(small, " "), fmt::join(cut, " "));
}

std::string label_of(const ShrunkCase& s) {
  if (s.after)
    return fmt::format("{}: passes alone ({} of {}), fails after {} other case{} in the same process", s.label,
                       s.same_seed.run - s.same_seed.failed, s.same_seed.run, s.after, s.after == 1 ? "" : "s");
  std::string text = fmt::format("{}: fails again with its seed ({} of {})", s.label, s.same_seed.failed, s.same_seed.run);
  if (s.other_seeds.run) text += fmt::format(" and with others ({} of {})", s.other_seeds.failed, s.other_seeds.run);
  return text;
}

// What the case of a repro line is for; empty if this build cannot read the line.
std::string shown_by_line(const std::string& op_name, const std::string& line) {
  const Op* op = find_op(op_name);
  if (!op) return {};
  try {
    return shown_by(parse_repro(line, op_shapes()).what, op->shape());
  } catch (const BadInput&) {
    return {};
  }
}

ReportFailure failure_of(const JudgedCase& c, const ShrunkCase* shrunk, const std::string& apart, const std::string& would_pass) {
  ReportFailure f{.verdict = c.verdict,
                  .what = fmt::format("{}/{} {}", c.op, c.kernel, c.dtype),
                  .reason = c.reason,
                  .facts = {},
                  .again = c.again(),
                  .alike = {}};
  const auto say = [&](const char* name, const std::string& text) {
    if (!text.empty()) f.facts.emplace_back(name, text);
  };
  if (c.worst) {
    say("where", where_of(c));
    say("got", fmt::format("{:.10g}", c.worst->got));
    say("golden", fmt::format("{:.10g}      bound ±{:.3g}", c.worst->golden, c.worst->bound));
    say("pattern", c.pattern);
  }
  const bool smaller = shrunk && !shrunk->smallest.empty();
  if (smaller) say("smallest", smallest_text(*shrunk));
  say("reads like", c.reads_like.empty() && smaller ? shrunk->reads_like : c.reads_like);
  if (c.worst) say("would pass", would_pass);
  if (shrunk && !shrunk->label.empty()) say("label", label_of(*shrunk));
  if (shrunk) say("its case", shown_by_line(c.op, smaller ? shrunk->smallest : c.repro));
  say("across", apart);
  say("again", smaller ? c.again(shrunk->smallest) : f.again);
  if (smaller) say("found as", f.again);
  return f;
}

// Failures of one kernel and one kind are taken for one fault.  Kinds as in failure_kind() of validate/judge/shrink.hpp.
std::string kind_of(const JudgedCase& c) {
  if (c.verdict == "timeout") return c.verdict;
  if (c.verdict == "crashed" || c.verdict == "suspect") return c.verdict + ": " + c.reason;
  if (c.worst || c.reason.find("err/bound") != std::string::npos) return c.verdict + ": values";
  return c.verdict + ": " + c.reason.substr(0, c.reason.find_first_of("('=0123456789"));
}

// Finds what sets the failing cases of each kernel apart from those that passed, for the ops that this build has.
Across across(const std::map<std::string, const JudgedCase*>& cases) {
  std::set<std::pair<std::string, std::string>> bad;
  for (const auto& [repro, c] : cases)
    if (c->bad()) bad.insert({c->op, c->kernel});
  const std::vector<OpShape> shapes = bad.empty() ? std::vector<OpShape>{} : op_shapes();
  Across all;
  for (const auto& [repro, c] : cases) {
    const Op* op = bad.contains({c->op, c->kernel}) ? find_op(c->op) : nullptr;
    if (!op) continue;
    try {
      const Case parsed = parse_repro(repro, shapes).what;
      if (c->bad()) all.add_failed(parsed, op->shape(), c->kernel, kind_of(*c), c->reads_like);
      else if (c->verdict == "passed" && c->margin) all.add_passed(parsed, op->shape(), c->kernel);
    } catch (const BadInput&) {  // a record from a build whose op has other axes
    }
  }
  return all;
}

}  // namespace

void add_failures(Report& report) {
  const std::map<std::string, const JudgedCase*> cases = latest_cases(report);
  const Across apart = across(cases);
  Habits habits;
  for (const auto& [repro, c] : cases)
    if (c->bad() && c->worst) habits.add(c->op, c->kernel, c->would_pass);
  std::map<std::string, const ShrunkCase*> shrunk;
  for (const RecordFile& f : report.files)
    for (const ShrunkCase& s : f.shrunk) shrunk[s.of] = &s;
  std::vector<std::pair<std::string, ReportFailure>> all;  // by kind
  for (const auto& [repro, c] : cases) {
    if (!c->bad()) continue;
    const auto s = shrunk.find(repro);
    JudgedCase shown = *c;
    if (shown.reads_like.empty()) shown.reads_like = apart.reading(c->op, c->kernel, kind_of(*c));
    all.emplace_back(c->op + "/" + c->kernel + " " + kind_of(*c),
                     failure_of(shown, s == shrunk.end() ? nullptr : s->second, apart.sentence(c->op, c->kernel, kind_of(*c)),
                                habits.sentence(c->op, c->kernel)));
  }
  // The failure with the most facts comes first and stands for its kind: a shrunk one, if there is any.
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.facts.size() > b.second.facts.size(); });
  const auto add = [&](const char* verdict, const std::string& what, const std::string& reason, const std::string& again = "") {
    ReportFailure f{.verdict = verdict, .what = what, .reason = reason, .facts = {}, .again = again, .alike = {}};
    if (!again.empty()) f.facts.emplace_back("again", again);
    all.emplace_back(fmt::format("{} {} {}", verdict, what, reason), std::move(f));
  };
  for (const auto& [fault, p] : latest_faults(report))
    if (!p->rejected)
      add("suspect", fmt::format("{}/{} {}", p->op, p->kernel, p->dtype),
          fmt::format("no bound of {} cases would have rejected a fault: {}", p->tried, p->fault));
  for (const ReportRow& row : report.rows)
    if (!row.row->right())
      add("wrong after timing", row.row->kernel_key(), fmt::format("{}: err/bound {:.3g}", row.row->shape, row.row->margin),
          row.again);
  for (const RecordFile& f : report.files)
    for (const LeftOut& out : f.left_out)
      if (out.reason.starts_with("FAILED") || out.reason.starts_with("IMPOSSIBLE"))
        add("not timed", fmt::format("{}/{} {}", out.op, out.kernel, out.dtype), fmt::format("{}: {}", out.shape, out.reason));
  report.failed = all.size();
  std::map<std::string, std::size_t> known;
  for (auto& [kind, f] : all) {
    const auto [at, is_new] = known.try_emplace(kind, report.failures.size());
    if (is_new) report.failures.push_back(std::move(f));
    else if (!f.again.empty()) report.failures[at->second].alike.push_back(f.again);
  }
}

}  // namespace assay
