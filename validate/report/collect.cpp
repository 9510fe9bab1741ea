// SPDX-License-Identifier: Apache-2.0
// Collects a report from record files.  Of each case and row, the latest file counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/base/input.hpp"
#include "validate/report/report.hpp"

namespace assay {

namespace {

// Whether the times of two files are comparable: one suite, one backend, one device.
bool same_run(const RecordFile& a, const RecordFile& b) {
  return a.suite == b.suite && a.backend == b.backend && a.device == b.device;
}

void add_rows(Report& report) {
  std::map<std::string, ReportRow> rows;
  for (const RecordFile& f : report.files)
    for (const TimedRow& r : f.rows) {
      if (r.planted > 0) continue;  // Note: a slowdown was planted, so its times are not the kernel's
      ReportRow& row = rows[r.key()];
      if (row.file != &f) {
        row.before = row.file && same_run(*row.file, f) ? row.row : nullptr;
        row.file = &f;
        row.suites.clear();
      }
      row.row = &r;
      if (r.suite) row.suites.push_back(&*r.suite);
      row.again = fmt::format("validate bench --op {} --kernel {} --dtype {} --shape '{}'", r.op, r.kernel, r.dtype, r.shape);
    }
  for (auto& [key, row] : rows) report.rows.push_back(std::move(row));
  std::stable_sort(report.rows.begin(), report.rows.end(), [](const ReportRow& a, const ReportRow& b) {
    if (a.row->op != b.row->op) return a.row->op < b.row->op;
    if (a.row->right() != b.row->right()) return b.row->right();
    return a.row->share_of_limit < b.row->share_of_limit;
  });
}

// Counts cases by kernel and dtype, and verdicts over all.
void add_cases(Report& report, std::map<std::string, std::size_t>& verdicts) {
  std::map<std::string, ReportKernel> kernels;
  for (const auto& [repro, c] : latest_cases(report)) {
    ++verdicts[c->verdict];
    ReportKernel& k = kernels[c->kernel_key()];
    k.op = c->op;
    k.kernel = c->kernel;
    k.dtype = c->dtype;
    k.unsupported += c->verdict == "unsupported";
    if (c->verdict == "unsupported" || c->verdict == "skipped") continue;
    ++k.cases;
    k.passed += c->verdict == "passed";
    k.bad += c->bad();
    if (!c->margin) continue;
    k.max_abs_error = std::max(k.max_abs_error, c->max_abs_error.value_or(-1));
    const double bin = std::isfinite(*c->margin) ? std::min(10 * *c->margin, kMarginBins - 1.0) : kMarginBins - 1.0;
    ++report.margins[static_cast<std::size_t>(std::max(0.0, bin))];
    if (!(*c->margin <= k.margin)) {
      k.margin = std::isnan(*c->margin) ? HUGE_VAL : *c->margin;
      k.again = repro;
    }
  }
  for (auto& [key, k] : kernels) report.kernels.push_back(std::move(k));
  std::stable_sort(report.kernels.begin(), report.kernels.end(), [](const ReportKernel& a, const ReportKernel& b) {
    return a.bad != b.bad ? a.bad > b.bad : a.margin > b.margin;
  });
}

}  // namespace

std::map<std::string, const JudgedCase*> latest_cases(const Report& report) {
  std::map<std::string, const JudgedCase*> latest;
  for (const RecordFile& f : report.files)
    for (const JudgedCase& c : f.cases) latest[c.repro] = &c;
  return latest;
}

std::map<std::string, const PlantedFault*> latest_faults(const Report& report) {
  std::map<std::string, const PlantedFault*> latest;
  for (const RecordFile& f : report.files)
    for (const PlantedFault& p : f.faults) latest[fmt::format("{}/{} {} {}", p.op, p.kernel, p.dtype, p.fault)] = &p;
  return latest;
}

Report report_of(const std::vector<std::string>& paths) {
  Report report;
  for (const std::string& path : paths) report.files.push_back(read_records(path));
  std::stable_sort(report.files.begin(), report.files.end(),
                   [](const RecordFile& a, const RecordFile& b) { return a.date < b.date; });
  std::map<std::string, std::size_t> verdicts;
  add_cases(report, verdicts);
  add_rows(report);
  add_failures(report);
  add_suites(report);
  add_ranked_rows(report);
  add_counts(report);
  for (const auto& [fault, p] : latest_faults(report)) {
    ++(p->rejected ? report.faults_rejected : report.faults_not_rejected);
    if (!p->rejected) ++verdicts["suspect"];
  }
  std::vector<std::string> parts;
  for (const RecordFile& f : report.files)
    if (!f.incomplete.empty()) parts.push_back(fmt::format("INCOMPLETE: '{}': {}", plain(f.path), f.incomplete));
  for (const char* verdict : {"passed", "failed", "suspect", "crashed", "timeout", "skipped", "unsupported"})
    if (verdicts[verdict] ||
        (!report.kernels.empty() && std::string_view("passed failed suspect").find(verdict) != std::string::npos))
      parts.push_back(fmt::format("{} {}", verdicts[verdict], verdict));
  if (!report.rows.empty()) {
    const auto wrong = std::count_if(report.rows.begin(), report.rows.end(), [](const auto& r) { return !r.row->right(); });
    parts.push_back(fmt::format("{} rows timed, {}", report.rows.size(),
                                wrong ? fmt::format("{} outputs WRONG", wrong) : "every output right"));
  }
  std::size_t models = 0;
  for (const RecordFile& f : report.files) models += f.models.size();
  if (models) parts.push_back(fmt::format("{} time{} of models, not judged", models, models == 1 ? "" : "s"));
  if (parts.empty()) parts.emplace_back("nothing was judged and nothing was timed");
  report.line = fmt::format("{}{}", report.ok() ? "" : "FAILED · ", fmt::join(parts, " · "));
  return report;
}

}  // namespace assay
