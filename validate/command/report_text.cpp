// SPDX-License-Identifier: Apache-2.0
// A report as Markdown, short enough for a summary of CI, and as CSV with a line a row.
#include <fmt/format.h>

#include <set>

#include "validate/command/report.hpp"

namespace assay {

namespace {

// RFC 4180: quoted where it has to be.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string cell(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
    else if (c == '|') c = '/';
  return text;
}

}  // namespace

std::string to_report_markdown(const Report& report) {
  constexpr std::size_t kFailures = 3, kBytes = 900'000;  // a summary of CI takes 1 MiB
  std::string text = fmt::format("## Assay: {}\n\n", report.line);
  for (const RecordFile& f : report.files)
    text += fmt::format("- `{}`: {}, {}, commit {}, {}\n", f.path, f.date, f.device, f.commit, f.build);
  for (std::size_t i = 0; i < std::min(kFailures, report.failures.size()); ++i) {
    const ReportFailure& f = report.failures[i];
    text += fmt::format("- **{}** {} {} `{}`\n", f.verdict, cell(f.reason), cell(f.pattern), f.again);
  }
  if (report.failures.size() > kFailures) text += fmt::format("- and {} more\n", report.failures.size() - kFailures);
  if (!report.kernels.empty())
    text +=
        "\n| op | kernel | dtype | cases | passed | bad | unsupported | worst err/bound | largest error "
        "|\n|---|---|---|---|---|---|---|---|---|\n";
  for (const ReportKernel& k : report.kernels)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", k.op, k.kernel, k.dtype, k.cases, k.passed, k.bad,
                        k.unsupported, k.margin < 0 ? "" : fmt::format("{:.3g}", k.margin),
                        k.max_abs_error < 0 ? "" : fmt::format("{:.3g}", k.max_abs_error));
  if (!report.rows.empty())
    text +=
        "\n| op | kernel | dtype | shape | err/bound | µs | GB/s | TFLOP/s | % of limit | ratios "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n";
  std::size_t left = report.rows.size();
  for (const ReportRow& row : report.rows) {
    const TimedRow& r = *row.row;
    std::string ratios;
    for (const auto& [baseline, ratio] : r.speedups)
      if (baseline != r.kernel) ratios += fmt::format("{}{:.2f}× {}", ratios.empty() ? "" : ", ", ratio, baseline);
    if (text.size() > kBytes) {
      text += fmt::format("\n{} rows more\n", left);
      break;
    }
    --left;
    text += fmt::format("| {} | {} | {} | {} | {:.3g} | {:.2f} | {:.0f} | {:.1f} | {:.1f} {} | {} |\n", r.op, r.kernel, r.dtype,
                        r.shape, r.margin, r.time_us.p50, 1e-3 * r.bytes / r.time_us.p50, 1e-6 * r.flops / r.time_us.p50,
                        100 * r.share_of_limit, r.limit, ratios);
  }
  return text;
}

std::string to_csv(const Report& report) {
  std::set<std::string> baselines;
  for (const ReportRow& row : report.rows)
    for (const auto& [baseline, ratio] : row.row->speedups) baselines.insert(baseline);
  std::string text =
      "op,kernel,dtype,shape,err_per_bound,median_us,p5_us,p95_us,mean_us,std_us,samples,processes,steady_us,gb_per_s,tflop_per_"
      "s,"
      "share_of_limit,limit,score,peak_device_bytes,code";
  for (const std::string& baseline : baselines)
    text += fmt::format(",ratio_to_{0},ratio_to_{0}_low,ratio_to_{0}_high", field(baseline));
  text += ",again\r\n";
  for (const ReportRow& row : report.rows) {
    const TimedRow& r = *row.row;
    const auto maybe = [](const std::optional<double>& v) { return v ? fmt::format("{:.6g}", *v) : std::string(); };
    text += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},{:.6g},{:.6g},{:.6g},{},{},{:.0f},{}",
                        field(r.op), field(r.kernel), field(r.dtype), field(r.shape), r.margin, r.time_us.p50, r.time_us.p5,
                        r.time_us.p95, r.time_us.mean, r.time_us.std, r.time_us.n, r.samples.size(), maybe(r.steady_us),
                        1e-3 * r.bytes / r.time_us.p50, 1e-6 * r.flops / r.time_us.p50, r.share_of_limit, field(r.limit),
                        maybe(r.score), r.peak_bytes, field(r.code));
    for (const std::string& baseline : baselines) {
      const auto ratio = r.speedups.find(baseline);
      const auto ends = r.intervals.find(baseline);
      text += ratio == r.speedups.end() ? "," : fmt::format(",{:.6g}", ratio->second);
      text += ends == r.intervals.end() ? ",," : fmt::format(",{:.6g},{:.6g}", ends->second.low, ends->second.high);
    }
    text += "," + field(row.again) + "\r\n";
  }
  return text;
}

}  // namespace assay
