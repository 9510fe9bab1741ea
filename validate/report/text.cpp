// SPDX-License-Identifier: Apache-2.0
// A report as Markdown, short enough for a summary of CI, and as CSV with a line a row.
#include <fmt/format.h>

#include <set>

#include "validate/report/report.hpp"

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

// Lines, as long as they fit: a summary of CI takes 1 MiB.
class Markdown {
 public:
  void line(const std::string& text) {
    if (text_.size() + text.size() > kBytes) ++left_;
    else text_ += text + "\n";
  }
  void table(const std::string& title, const std::vector<std::string>& columns) {
    if (!title.empty()) line("\n" + title);
    std::string rule = "|";
    for (std::size_t i = 0; i < columns.size(); ++i) rule += "---|";
    line(fmt::format("\n| {} |\n{}", fmt::join(columns, " | "), rule));
  }
  void row(const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& c : cells) text += " " + cell(c) + " |";
    line(text);
  }
  std::string text() const { return left_ ? text_ + fmt::format("\n{} lines more\n", left_) : text_; }

 private:
  static constexpr std::size_t kBytes = 900'000;
  std::string text_;
  std::size_t left_ = 0;
};

const std::string kNone = "–";

std::string or_none(double v, const char* format) { return v > 0 ? fmt::format(fmt::runtime(format), v) : kNone; }

std::string short_of(const Contender& c) {
  if (!(c.us > 0)) return kNone;
  std::string text = fmt::format("{:.2f}{}", c.us, c.elsewhere ? "†" : "");
  if (c.ratio > 0) text += fmt::format(" {:.2f}×", c.ratio);
  if (c.interval) text += fmt::format(" [{:.2f}, {:.2f}]", c.interval->low, c.interval->high);
  return text + (c.beyond ? " ‡" : "") + " " + c.kernel;
}

std::string saved(double fused, double unfused) {
  return unfused > 0 ? fmt::format("{:.1f} %", 100 * (1 - fused / unfused)) : kNone;
}

void write_suites(Markdown& out, const Report& report) {
  for (const RestatedTable& table : report.suites) {
    std::vector<std::string> columns{"label", "op, dtype, shape", "reported"};
    for (const char* name : kContenders) columns.push_back(fmt::format("{} µs, ratio to ours", name));
    for (const char* name :
         {"ours µs", "limit µs", "fusion gives at most", "DRAM MB ours / unfused", "saved by formula / DRAM", "file"})
      columns.emplace_back(name);
    out.table(fmt::format("### {}: {}", table.suite, table.title), columns);
    for (const SuiteLine& l : table.lines) {
      std::vector<std::string> cells{l.place->label, fmt::format("{} {} {}", l.op, l.dtype, l.shape),
                                     words(*l.place) + (l.claimed_beyond ? " ‡" : "")};
      if (cells[2].empty()) cells[2] = kNone;
      for (const auto& all : l.contenders) cells.push_back(all.empty() ? kNone : short_of(all.front()));
      cells.push_back(l.ours          ? fmt::format("{:.2f} {}", l.ours->time_us.p50, l.ours->kernel)
                      : l.why.empty() ? kNone
                                      : kNone + " " + l.why);
      cells.push_back(or_none(l.limit_us, "{:.2f}"));
      cells.push_back(or_none(l.most, "{:.2f}×") + (l.most > 0 && l.limit_us < kLaunchUs ? ", and launches" : ""));
      const DramBytes* ours = l.ours && l.ours->dram ? &*l.ours->dram : nullptr;
      const DramBytes* unfused = l.unfused && l.unfused->dram ? &*l.unfused->dram : nullptr;
      cells.push_back(fmt::format("{} / {}", ours ? fmt::format("{:.2f}", 1e-6 * ours->sum()) : kNone,
                                  unfused ? fmt::format("{:.2f}", 1e-6 * unfused->sum()) : kNone));
      cells.push_back(fmt::format("{} / {}", l.any() ? saved(l.any()->bytes, l.any()->unfused_bytes) : kNone,
                                  ours && unfused ? saved(ours->sum(), unfused->sum()) : kNone));
      cells.push_back(l.file->path);
      out.row(cells);
    }
  }
  if (!report.suites.empty())
    out.line(fmt::format(
        "\nµs: median of single launches with a flushed L2 cache. Ratios: that time over ours, with a 95 % interval where both "
        "are of one run. † taken by another program in another process, not judged here. ‡ more than fusion can give (the bytes "
        "between the steps at the ceilings of the same run): the baseline is slow; where the limit is below {:.0f} µs, launches "
        "come on top.",
        kLaunchUs));
}

void write_ablations(Markdown& out, const Report& report) {
  if (report.ablations.empty()) return;
  out.table("### Ablations: what each idea gave",
            {"op", "dtype", "shape", "step", "kernel", "µs", "over the step before", "% of limit", "file"});
  for (const Ablation& a : report.ablations)
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
      const TimedRow& r = *a.steps[i];
      out.row({r.op, r.dtype, r.shape, fmt::format("{}", *r.step), r.kernel + (r.right() ? "" : " WRONG"),
               fmt::format("{:.2f}", r.time_us.p50), or_none(a.gain(i), "{:.2f}×"),
               fmt::format("{:.1f} {}", 100 * r.share_of_limit, r.limit), a.file->path});
    }
}

void write_rows(Markdown& out, const Report& report) {
  if (report.rows.empty()) return;
  out.table("### Times",
            {"op", "kernel", "dtype", "shape", "err/bound", "µs", "GB/s", "TFLOP/s", "% of limit", "DRAM MB", "ratios"});
  for (const ReportRow& row : report.rows) {
    const TimedRow& r = *row.row;
    std::string ratios;
    for (const auto& [baseline, ratio] : r.speedups)
      if (baseline != r.kernel) ratios += fmt::format("{}{:.2f}× {}", ratios.empty() ? "" : ", ", ratio, baseline);
    out.row({r.op, r.kernel, r.dtype, r.shape, fmt::format("{:.3g}", r.margin), fmt::format("{:.2f}", r.time_us.p50),
             fmt::format("{:.0f}", 1e-3 * r.bytes / r.time_us.p50), fmt::format("{:.1f}", 1e-6 * r.flops / r.time_us.p50),
             fmt::format("{:.1f} {}", 100 * r.share_of_limit, r.limit),
             r.dram ? fmt::format("{:.2f}", 1e-6 * r.dram->sum()) : kNone, ratios});
  }
}

}  // namespace

std::string to_report_markdown(const Report& report) {
  constexpr std::size_t kFailures = 3;
  Markdown out;
  out.line(fmt::format("## Assay: {}\n", report.line));
  for (const RecordFile& f : report.files)
    out.line(fmt::format("- `{}`: {}, {}, commit {}, {}", f.path, f.date, f.device, f.commit, f.build));
  for (std::size_t i = 0; i < std::min(kFailures, report.failures.size()); ++i) {
    const ReportFailure& f = report.failures[i];
    out.line(fmt::format("- **{}** {} {} `{}`", f.verdict, cell(f.reason), cell(f.pattern), f.again));
  }
  if (report.failures.size() > kFailures) out.line(fmt::format("- and {} more", report.failures.size() - kFailures));
  write_suites(out, report);
  write_ablations(out, report);
  if (!report.kernels.empty())
    out.table("### Correctness",
              {"op", "kernel", "dtype", "cases", "passed", "bad", "unsupported", "worst err/bound", "largest error"});
  for (const ReportKernel& k : report.kernels)
    out.row({k.op, k.kernel, k.dtype, fmt::format("{}", k.cases), fmt::format("{}", k.passed), fmt::format("{}", k.bad),
             fmt::format("{}", k.unsupported), k.margin < 0 ? "" : fmt::format("{:.3g}", k.margin),
             k.max_abs_error < 0 ? "" : fmt::format("{:.3g}", k.max_abs_error)});
  write_rows(out, report);
  return out.text();
}

std::string to_csv(const Report& report) {
  std::set<std::string> baselines;
  for (const ReportRow& row : report.rows)
    for (const auto& [baseline, ratio] : row.row->speedups) baselines.insert(baseline);
  std::string text =
      "op,kernel,dtype,shape,err_per_bound,median_us,p5_us,p95_us,mean_us,std_us,samples,processes,steady_us,gb_per_s,tflop_per_"
      "s,"
      "share_of_limit,limit,score,peak_device_bytes,code,suite,table,label,step,dram_read_bytes,dram_written_bytes,file,commit,"
      "device";
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
    for (const auto part : {&SuitePlace::name, &SuitePlace::table, &SuitePlace::label}) {
      std::vector<std::string> of_each;
      for (const SuitePlace* place : row.suites) of_each.push_back(place->*part);
      text += "," + field(fmt::format("{}", fmt::join(of_each, "; ")));
    }
    text += fmt::format(",{},{},{},{},{},{}", r.step ? fmt::format("{}", *r.step) : "",
                        r.dram ? fmt::format("{:.0f}", r.dram->read) : "", r.dram ? fmt::format("{:.0f}", r.dram->written) : "",
                        field(row.file->path), field(row.file->commit), field(row.file->device));
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
