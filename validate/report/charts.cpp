// SPDX-License-Identifier: Apache-2.0
// Makes the data of the HTML page's charts.
#include "validate/report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "validate/report/tables.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

double rounded(double v) {
  return std::strtod(fmt::format("{:.4g}", v).c_str(), nullptr);
}  // to four digits, to keep the page small

std::string problem_of(const TimedRow& r) { return fmt::format("{} {} {}", r.op, r.dtype, r.shape); }

// One [op, problem, limit in µs, library, ratio, kernels] per problem and library, with the library's fastest call.
Json sizes_of(const Report& report) {
  Json all = Json::array();
  for (const RankedRow& s : report.ranked) {
    std::map<std::string, const Contender*> fastest;
    for (const Contender& c : s.others) fastest.try_emplace(library_of(c), &c);
    for (const auto& [library, c] : fastest)
      all.push_back({s.ours->op, problem_of(*s.ours), rounded(s.limit_us), library, rounded(c->ratio),
                     fmt::format("{} {:.2f} µs, {} {:.2f} µs", s.ours->kernel, s.ours->time_us.p50, c->kernel, c->us)});
  }
  return all;
}

// One [op, problem, operations per byte, TFLOP/s, whose, kernel] per problem for our fastest right kernel and for each library.
Json points_of(const Report& report) {
  std::map<std::string, const TimedRow*> chosen;
  for (const ReportRow& row : report.rows) {
    const TimedRow& r = *row.row;
    if (!r.right() || r.kernel == "unfused" || !(r.flops > 0 && r.bytes > 0)) continue;
    const TimedRow*& known = chosen[problem_of(r) + (is_own(r.kernel) ? "" : " " + r.kernel)];
    if (!known || r.time_us.p50 < known->time_us.p50) known = &r;
  }
  Json all = Json::array();
  for (const auto& [key, r] : chosen)
    all.push_back({r->op, problem_of(*r), rounded(r->flops / r->bytes), rounded(1e-6 * r->flops / r->time_us.p50),
                   is_own(r->kernel) ? "ours" : library_of({.kernel = r->kernel, .interval = {}, .why = {}}), r->kernel});
  return all;
}

// [op, row, time over that of the previous run] of the rows that changed most.
Json changes_of(const Report& report) {
  constexpr std::size_t kShown = 12;
  std::vector<std::pair<double, const TimedRow*>> all;
  for (const ReportRow& row : report.rows)
    if (row.before) all.emplace_back(row.row->time_us.p50 / row.before->time_us.p50, row.row);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return std::abs(std::log(a.first)) > std::abs(std::log(b.first)); });
  Json shown = Json::array();
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
    shown.push_back({all[i].second->op, all[i].second->key(), rounded(all[i].first)});
  return shown;
}

}  // namespace

nlohmann::ordered_json charts_of(const Report& report) {
  Json matrix = Json::object();
  double copy = 0;
  for (const ReportRow& row : report.rows) {
    copy = std::max(copy, row.row->copy_rate);
    if (const auto& rate = row.row->matrix_rate) matrix[row.row->dtype] = std::max(*rate, matrix.value(row.row->dtype, 0.0));
  }
  const bool judged = std::any_of(report.margins.begin(), report.margins.end(), [](std::int64_t n) { return n > 0; });
  return {{"sizes", sizes_of(report)},
          {"points", points_of(report)},
          {"copy", copy},
          {"matrix", matrix},
          {"margins", judged ? Json(report.margins) : Json::array()},
          {"changes", changes_of(report)}};
}

}  // namespace assay
