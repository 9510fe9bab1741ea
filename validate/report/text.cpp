// SPDX-License-Identifier: Apache-2.0
// Writes a report as Markdown, short enough for a CI summary, and as CSV, one line per timed row.
#include <fmt/format.h>

#include <set>

#include "validate/base/input.hpp"
#include "validate/report/tables.hpp"

namespace assay {

namespace {

// A CSV field, quoted as RFC 4180 requires.  A text that a spreadsheet would take for a formula gets an apostrophe before it.
std::string field(std::string text) {
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Collects lines up to a size limit, since a CI summary takes at most 1 MiB.
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
    for (const std::string& c : cells) text += " " + in_markdown(c) + " |";
    line(text);
  }
  std::string text() const { return left_ ? text_ + fmt::format("\n{} lines more\n", left_) : text_; }

 private:
  static constexpr std::size_t kBytes = 900'000;
  std::string text_;
  std::size_t left_ = 0;
};

void write_failures(Markdown& out, const Report& report) {
  constexpr std::size_t kFailures = 3;
  for (std::size_t i = 0; i < std::min(kFailures, report.failures.size()); ++i) {
    const ReportFailure& f = report.failures[i];
    out.line(fmt::format("\n**{}** {}: {}", f.verdict, in_markdown(f.what), in_markdown(f.reason)));
    std::string facts;
    for (const auto& [name, text] : f.facts) facts += fmt::format("  {:<10} {}\n", name, in_markdown_code(text));
    if (!facts.empty()) out.line("\n```\n" + facts + "```");
    if (!f.alike.empty()) out.line(fmt::format("\n{} more fail alike.", f.alike.size()));
  }
  if (report.failures.size() > kFailures) out.line(fmt::format("\nand {} more failures", report.failures.size() - kFailures));
}

void write_ops(Markdown& out, const Report& report) {
  const std::vector<OpStanding> ops = by_op(report);
  if (ops.empty()) return;
  out.table("### Ours against the best other, by op",
            {"op", "shapes", "ours faster on", "ratio, geometric mean", "least", "most", "best other"});
  for (const OpStanding& o : ops)
    out.row({o.op, fmt::format("{}", o.shapes), fmt::format("{}", o.faster), ratio_text(o.mean), ratio_text(o.least),
             ratio_text(o.most), o.other});
}

void write_section(Markdown& out, const Section& section) {
  for (const Table& t : section.tables) {
    std::vector<std::string> columns;
    for (const Table::Column& c : t.columns) columns.push_back(c.name);
    out.table("### " + (t.title.empty() ? section.title : t.title), columns);
    for (const Table::Row& r : t.rows) {
      std::vector<std::string> cells;
      for (const Cell& c : r.cells) cells.push_back(c.text.empty() ? "–" : c.text);
      out.row(cells);
    }
  }
  out.line("\n" + section.about);
}

}  // namespace

std::string to_report_markdown(const Report& report) {
  Markdown out;
  out.line(fmt::format("## Assay: {}\n", in_markdown(report.line)));
  for (const RecordFile& f : report.files)
    out.line(fmt::format("- {} `{}`: {}, {}, commit {}, {}", in_markdown(run_name(report, &f)), in_markdown_code(f.path),
                         in_markdown(f.date), in_markdown(f.device), in_markdown(f.commit), in_markdown(f.build)));
  write_failures(out, report);
  write_ops(out, report);
  for (const Section& s : sections_of(report))
    if (s.in_summary) write_section(out, s);
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
    text += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},{:.6g},{:.6g},{:.6g},{},{},{},{}",
                        field(r.op), field(r.kernel), field(r.dtype), field(r.shape), r.margin, r.time_us.p50, r.time_us.p5,
                        r.time_us.p95, r.time_us.mean, r.time_us.std, r.time_us.n, r.samples.size(), maybe(r.steady_us),
                        1e-3 * r.bytes / r.time_us.p50, 1e-6 * r.flops / r.time_us.p50, r.share_of_limit, field(r.limit),
                        maybe(r.score), r.peak_bytes ? fmt::format("{:.0f}", *r.peak_bytes) : "0", field(r.code));
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
