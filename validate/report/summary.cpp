// SPDX-License-Identifier: Apache-2.0
// Computes the numbers that a report begins with, and each op's ratios to the best other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "validate/report/tables.hpp"

namespace assay {

namespace {

// 13279 as "13,279".
std::string grouped(std::size_t n) {
  std::string text = std::to_string(n);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

double geometric_mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double r : ratios) sum += std::log(r);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

std::vector<double> best_ratios(const std::vector<RankedRow>& ranked) {
  std::vector<double> ratios;
  for (const RankedRow& s : ranked) ratios.push_back(s.best().ratio);
  return ratios;
}

Figure cases_figure(const Report& report) {
  std::size_t cases = 0, passed = 0, unsupported = 0;
  for (const ReportKernel& k : report.kernels) {
    cases += k.cases;
    passed += k.passed;
    unsupported += k.unsupported;
  }
  return {grouped(passed), passed == cases ? "cases passed" : fmt::format("of {} cases passed", grouped(cases)),
          fmt::format("{} kernels and dtypes{}", report.kernels.size(),
                      unsupported ? fmt::format(", {} cases unsupported as declared", grouped(unsupported)) : ""),
          passed != cases};
}

Figure margin_figure(const Report& report) {
  double worst = -1;
  std::string where;
  for (const ReportKernel& k : report.kernels)
    if (k.margin > worst) {
      worst = k.margin;
      where = fmt::format("{}/{} {}", k.op, k.kernel, k.dtype);
    }
  if (worst < 0)
    for (const ReportRow& r : report.rows)
      if (r.row->margin > worst) {
        worst = r.row->margin;
        where = r.row->kernel_key();
      }
  return {std::isfinite(worst) ? margin_text(worst) : "∞", "largest err/bound", where, worst > 1};
}

Figure ranking_figure(const Report& report) {
  const std::vector<double> ratios = best_ratios(report.ranked);
  const auto faster = std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 1; });
  return {fmt::format("{:.2f}×", geometric_mean(ratios)), "the best other's time over ours",
          fmt::format("geometric mean of {} shapes, ours faster on {}", ratios.size(), faster)};
}

Figure limit_figure(const Report& report) {
  std::map<std::string, double> best;  // largest share of the limit of our right kernels, by problem
  for (const ReportRow& r : report.rows)
    if (is_own(r.row->kernel) && r.row->right()) {
      double& share = best[r.row->op + " " + r.row->dtype + " " + r.row->shape];
      share = std::max(share, r.row->share_of_limit);
    }
  std::vector<double> shares;
  for (const auto& [problem, share] : best) shares.push_back(share);
  if (shares.empty()) return {};
  return {fmt::format("{:.0f} %", 100 * quantile(shares, 0.5)), "of the measured ceiling",
          fmt::format("median over {} shapes of our fastest kernel", shares.size())};
}

Figure rows_figure(const Report& report) {
  const auto wrong = std::count_if(report.rows.begin(), report.rows.end(), [](const auto& r) { return !r.row->right(); });
  return {grouped(report.rows.size()), "rows timed", wrong ? fmt::format("{} outputs wrong", wrong) : "every output right",
          wrong > 0};
}

}  // namespace

std::vector<Figure> figures_of(const Report& report) {
  std::vector<Figure> all;
  if (!report.kernels.empty()) all.push_back(cases_figure(report));
  if (!report.kernels.empty() || !report.rows.empty()) all.push_back(margin_figure(report));
  if (!report.ranked.empty()) all.push_back(ranking_figure(report));
  if (!report.rows.empty()) {
    all.push_back(limit_figure(report));
    all.push_back(rows_figure(report));
  }
  if (const auto faults = report.faults_rejected + report.faults_not_rejected; faults > 0)
    all.push_back({fmt::format("{} of {}", report.faults_rejected, faults), "planted faults rejected",
                   "one precision lower, last term dropped, zeros", report.faults_not_rejected > 0});
  if (!report.kernels.empty()) {
    std::set<std::string> ops;
    for (const ReportKernel& k : report.kernels) ops.insert(k.op);
    all.push_back({grouped(ops.size()), "ops", fmt::format("{} kernels and dtypes", report.kernels.size())});
  }
  std::erase_if(all, [](const Figure& f) { return f.value.empty(); });
  if (all.size() > 4) all.resize(4);
  return all;
}

std::vector<OpStanding> by_op(const Report& report) {
  std::map<std::string, std::vector<RankedRow>> ops;
  for (const RankedRow& s : report.ranked) ops[s.ours->op].push_back(s);
  std::vector<OpStanding> all;
  for (const auto& [op, ranked] : ops) {
    const std::vector<double> ratios = best_ratios(ranked);
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    std::map<std::string, int> others;
    for (const RankedRow& s : ranked) ++others[library_of(s.best())];
    const auto other =
        std::max_element(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    all.push_back(
        {.op = op,
         .other = other->first,
         .shapes = ratios.size(),
         .faster = static_cast<std::size_t>(std::count_if(ratios.begin(), ratios.end(), [](double r) { return r > 1; })),
         .mean = geometric_mean(ratios),
         .least = *least,
         .most = *most});
  }
  std::stable_sort(all.begin(), all.end(), [](const OpStanding& a, const OpStanding& b) { return a.mean > b.mean; });
  return all;
}

}  // namespace assay
