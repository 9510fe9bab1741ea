// SPDX-License-Identifier: Apache-2.0
#include "validate/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/records/record.hpp"

namespace assay {

namespace {

template <class T>
void sort_by_op(std::vector<T>& all, auto op_of, auto worse) {
  std::stable_sort(all.begin(), all.end(), [&](const T& a, const T& b) {
    if (op_of(a) != op_of(b)) return op_of(a) < op_of(b);
    return worse(a, b);
  });
}

void add_rows(Report& report) {
  std::map<std::string, ReportRow> rows;
  for (const RecordFile& f : report.files)
    for (const TimedRow& r : f.rows) {
      ReportRow& row = rows[r.key()];
      if (row.file != &f) {
        row.before = row.row, row.file = &f;
        row.history.emplace_back(f.date, 0);
        row.suites.clear();
      }
      row.row = &r, row.history.back().second = r.time_us.p50;
      if (r.suite) row.suites.push_back(&*r.suite);
      row.again = fmt::format("validate bench --op {} --kernel {} --dtype {} --shape '{}'", r.op, r.kernel, r.dtype, r.shape);
    }
  for (auto& [key, row] : rows) {
    if (!row.row->right())
      report.failures.push_back({"wrong after timing", fmt::format("err/bound {:.3g}", row.row->margin), "", row.again});
    report.rows.push_back(std::move(row));
  }
  sort_by_op(
      report.rows, [](const ReportRow& r) { return r.row->op; },
      [](const ReportRow& a, const ReportRow& b) {
        const bool wrong_a = !a.row->right(), wrong_b = !b.row->right();
        return wrong_a != wrong_b ? wrong_a : a.row->share_of_limit < b.row->share_of_limit;
      });
  for (const RecordFile& f : report.files)
    for (const LeftOut& out : f.left_out)
      if (out.reason.starts_with("FAILED") || out.reason.starts_with("IMPOSSIBLE"))
        report.failures.push_back(
            {"not timed", out.reason, "", fmt::format("{}/{} {} {}", out.op, out.kernel, out.dtype, out.shape)});
}

// The latest verdict of every case; counted by kernel and dtype.
void add_cases(Report& report, std::map<std::string, std::size_t>& verdicts) {
  std::map<std::string, const JudgedCase*> latest;
  for (const RecordFile& f : report.files)
    for (const JudgedCase& c : f.cases) latest[c.repro] = &c;
  std::map<std::string, ReportKernel> kernels;
  for (const auto& [repro, c] : latest) {
    ++verdicts[c->verdict];
    ReportKernel& k = kernels[c->kernel_key()];
    k.op = c->op, k.kernel = c->kernel, k.dtype = c->dtype;
    k.unsupported += c->verdict == "unsupported";
    if (c->verdict == "unsupported" || c->verdict == "skipped") continue;
    ++k.cases, k.passed += c->verdict == "passed", k.bad += c->bad();
    if (c->bad()) report.failures.push_back({c->verdict, c->reason, c->pattern, "validate replay '" + repro + "'"});
    if (!c->margin) continue;
    k.max_abs_error = std::max(k.max_abs_error, c->max_abs_error.value_or(-1));
    auto& bins = report.margins[c->op];
    bins.resize(kMarginBins);
    const double bin = std::isfinite(*c->margin) ? std::min(10 * *c->margin, kMarginBins - 1.0) : kMarginBins - 1.0;
    ++bins[static_cast<std::size_t>(std::max(0.0, bin))];
    if (!(*c->margin <= k.margin)) k.margin = std::isnan(*c->margin) ? HUGE_VAL : *c->margin, k.again = repro;
  }
  for (auto& [key, k] : kernels) report.kernels.push_back(std::move(k));
  std::stable_sort(report.kernels.begin(), report.kernels.end(), [](const ReportKernel& a, const ReportKernel& b) {
    return a.bad != b.bad ? a.bad > b.bad : a.margin > b.margin;
  });
}

}  // namespace

Report report_of(const std::vector<std::string>& paths) {
  Report report;
  for (const std::string& path : paths) report.files.push_back(read_records(path));
  std::stable_sort(report.files.begin(), report.files.end(),
                   [](const RecordFile& a, const RecordFile& b) { return a.date < b.date; });
  std::map<std::string, std::size_t> verdicts;
  add_cases(report, verdicts);
  add_rows(report);
  add_suites(report);
  add_counts(report);
  std::vector<std::string> parts;
  for (const char* verdict : {"passed", "failed", "suspect", "crashed", "timeout", "skipped", "unsupported"})
    if (verdicts[verdict] ||
        (!report.kernels.empty() && std::string_view("passed failed suspect").find(verdict) != std::string::npos))
      parts.push_back(fmt::format("{} {}", verdicts[verdict], verdict));
  if (!report.rows.empty()) {
    const auto wrong = std::count_if(report.rows.begin(), report.rows.end(), [](const auto& r) { return !r.row->right(); });
    parts.push_back(fmt::format("{} rows timed, {}", report.rows.size(),
                                wrong ? fmt::format("{} WRONG after it", wrong) : "every output right after it"));
  }
  if (parts.empty()) parts.emplace_back("nothing was judged and nothing was timed");
  report.line = fmt::format("{}{}", report.ok() ? "" : "FAILED · ", fmt::join(parts, " · "));
  return report;
}

int report_command(const ReportFlags& flags) {
  const auto ends = [&](std::string_view end) { return flags.output.ends_with(end); };
  if (!ends(".html") && !ends(".md") && !ends(".csv"))
    throw BadInput(fmt::format("'{}' does not say what to write: .html, .md or .csv", flags.output));
  const Report report = report_of(flags.files);
  std::string text = ends(".html") ? to_html(report) : ends(".md") ? to_report_markdown(report) : to_csv(report);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();  // write_whole ends it
  write_whole(flags.output, text);
  fmt::print("{}\n{}: {} kB, {} rows, {} kernels judged\n", report.line, flags.output, (text.size() + 999) / 1000,
             report.rows.size(), report.kernels.size());
  return kAllPassed;
}

}  // namespace assay
