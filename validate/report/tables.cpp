// SPDX-License-Identifier: Apache-2.0
// Makes the report's tables of verdicts and times, and the number formats of all tables.
#include "validate/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

std::string microseconds(double us) { return us > 0 ? fmt::format("{:.2f}", us) : ""; }

std::string contender_text(const Contender& c) {
  if (!(c.us > 0)) return "";
  std::string text = fmt::format("{:.2f}{}", c.us, c.elsewhere ? "†" : "");
  if (c.ratio > 0) text += " " + ratio_text(c.ratio);
  if (c.interval) text += fmt::format(" [{:.2f}, {:.2f}]", c.interval->low, c.interval->high);
  return text + (c.beyond ? " ‡" : "") + " " + c.kernel;
}

Cell contender_cell(const std::vector<Contender>& all) {
  constexpr std::size_t kShown = 3;
  if (all.empty()) return {};
  Cell cell{contender_text(all.front())};
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
    if (!(all[i].us > 0)) cell.notes.push_back(fmt::format("{}: {}", all[i].kernel, all[i].why));
    else if (i) cell.notes.push_back(contender_text(all[i]));
  return cell;
}

std::string saved(double fused, double unfused) {
  return unfused > 0 ? fmt::format("{:.1f} %", 100 * (1 - fused / unfused)) : "–";
}

Table::Row suite_row(const Report& report, const SuiteLine& l) {
  Table::Row row{l.op, {{l.place->label}, {fmt::format("{} {} {}", l.op, l.dtype, l.shape)}}};
  std::string reported = words(*l.place);
  if (l.claimed_beyond) reported += " ‡";
  row.cells.push_back({reported});
  for (const auto& all : l.contenders) row.cells.push_back(contender_cell(all));
  row.cells.push_back({l.ours          ? fmt::format("{:.2f} {}", l.ours->time_us.p50, l.ours->kernel)
                       : l.why.empty() ? ""
                                       : "– " + l.why});
  row.cells.push_back({microseconds(l.limit_us)});
  row.cells.push_back({l.most > 0 ? ratio_text(l.most) + (l.limit_us < kLaunchUs ? ", plus launches" : "") : ""});
  const DramBytes* ours = l.ours && l.ours->dram ? &*l.ours->dram : nullptr;
  const DramBytes* unfused = l.unfused && l.unfused->dram ? &*l.unfused->dram : nullptr;
  const auto mb = [](const DramBytes* d) { return d ? fmt::format("{:.2f}", 1e-6 * d->sum()) : "–"; };
  row.cells.push_back({fmt::format("{} / {}", mb(ours), mb(unfused))});
  row.cells.push_back({fmt::format("{} / {}", l.any() ? saved(l.any()->bytes, l.any()->unfused_bytes) : "–",
                                   ours && unfused ? saved(ours->sum(), unfused->sum()) : "–")});
  row.cells.push_back({run_name(report, l.file)});
  return row;
}

Section suites_section(const Report& report) {
  Section s{"suites",
            "Published tables, measured again",
            fmt::format(
                "µs: median of single launches with a flushed L2 cache. Ratios: that time over ours, with a 95 % interval where "
                "both are of one run. † taken by another program in another process, not judged here. ‡ more than fusion can "
                "give (the saved bytes at the ceilings of the same run), so the baseline is slow; where the limit is "
                "below {:.0f} µs, saved launches add to it.",
                kLaunchUs),
            {},
            true};
  for (const RestatedTable& t : report.suites) {
    Table table{fmt::format("{}: {}", t.suite, t.title), {{"label"}, {"op, dtype, shape"}, {"reported"}}, {}};
    for (const char* name : kContenders) table.columns.push_back({fmt::format("{} µs, ratio to ours", name)});
    for (const char* name :
         {"ours µs", "limit µs", "fusion gives at most", "DRAM MB ours / unfused", "saved by formula / DRAM", "run"})
      table.columns.push_back({name, name == std::string("limit µs")});
    for (const SuiteLine& l : t.lines) table.rows.push_back(suite_row(report, l));
    s.tables.push_back(std::move(table));
  }
  return s;
}

Section ranked_section(const Report& report) {
  Section s{
      "ranked",
      "Ours against the best other, shape by shape",
      "Best other: the fastest library call or PyTorch expression on the same shape. Ratio: its time over that of our fastest "
      "right kernel, so below 1 the other is faster. † taken by another program in another process, without an interval.",
      {},
      true};
  Table t{"",
          {{"op"},
           {"dtype"},
           {"shape"},
           {"ours"},
           {"µs", true},
           {"best other"},
           {"µs", true},
           {"ratio", true},
           {"95 % interval"},
           {"% of limit", true},
           {"run"}},
          {}};
  std::vector<const RankedRow*> all;
  for (const RankedRow& st : report.ranked) all.push_back(&st);
  std::stable_sort(all.begin(), all.end(),
                   [](const RankedRow* a, const RankedRow* b) { return a->best().ratio < b->best().ratio; });
  for (const RankedRow* st : all) {
    const TimedRow& r = *st->ours;
    const Contender& c = st->best();
    t.rows.push_back({r.op,
                      {{r.op},
                       {r.dtype},
                       {r.shape},
                       {r.kernel},
                       {microseconds(r.time_us.p50)},
                       {c.kernel},
                       {microseconds(c.us) + (c.elsewhere ? "†" : "")},
                       {ratio_text(c.ratio), {}, c.ratio < 1},
                       {c.interval ? fmt::format("[{:.2f}, {:.2f}]", c.interval->low, c.interval->high) : ""},
                       {share_text(r.share_of_limit)},
                       {run_name(report, st->file)}}});
  }
  s.tables.push_back(std::move(t));
  return s;
}

Section ablations_section(const Report& report) {
  Section s{
      "ablations", "Ablations: what each idea gave", "The kernels of an op, plainest first, on one shape of one run.", {}, true};
  Table t{"",
          {{"op"},
           {"dtype"},
           {"shape"},
           {"step", true},
           {"kernel"},
           {"µs", true},
           {"over the step before", true},
           {"% of limit", true},
           {"run"}},
          {}};
  for (const Ablation& a : report.ablations)
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
      const TimedRow& r = *a.steps[i];
      const double gain = a.gain(i);
      t.rows.push_back({r.op,
                        {{r.op},
                         {r.dtype},
                         {r.shape},
                         {fmt::format("{}", *r.step)},
                         {r.kernel + (r.right() ? "" : " WRONG"), {}, !r.right()},
                         {microseconds(r.time_us.p50)},
                         {ratio_text(gain), {}, gain > 0 && gain < 1},
                         {fmt::format("{:.1f} {}", 100 * r.share_of_limit, r.limit)},
                         {run_name(report, a.file)}}});
    }
  s.tables.push_back(std::move(t));
  return s;
}

// The reasons of cases that kernels do not take, the most frequent first.
Table not_taken_table(const Report& report) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::int64_t>> kernels;  // cases by reason
  for (const auto& [repro, c] : latest_cases(report))
    if (c->verdict == "unsupported") ++kernels[{c->op, c->kernel}][c->reason];
  Table t{"Unsupported as declared", {{"op"}, {"kernel"}, {"cases", true}, {"reason"}}, {}};
  for (const auto& [kernel, reasons] : kernels) {
    std::vector<std::pair<std::string, std::int64_t>> frequent(reasons.begin(), reasons.end());
    std::stable_sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [reason, cases] : frequent)
      t.rows.push_back({kernel.first, {{kernel.first}, {kernel.second}, {fmt::format("{}", cases)}, {reason}}});
  }
  return t;
}

Section correctness_section(const Report& report) {
  Section s{"correctness",
            "Correctness by kernel",
            "The latest verdict of every case. Largest error: absolute, against the golden in f64.",
            {},
            true};
  Table t{"",
          {{"op"},
           {"kernel"},
           {"dtype"},
           {"cases", true},
           {"passed", true},
           {"bad", true},
           {"unsupported", true},
           {"worst err/bound", true},
           {"largest error", true},
           {"worst at"}},
          {}};
  for (const ReportKernel& k : report.kernels)
    t.rows.push_back({k.op,
                      {{k.op},
                       {k.kernel},
                       {k.dtype},
                       {fmt::format("{}", k.cases)},
                       {fmt::format("{}", k.passed)},
                       {fmt::format("{}", k.bad), {}, k.bad > 0},
                       {fmt::format("{}", k.unsupported)},
                       {k.margin < 0 ? "" : margin_text(k.margin), {}, k.margin > 1},
                       {k.max_abs_error < 0 ? "" : fmt::format("{:.3g}", k.max_abs_error)},
                       {k.again}}});
  s.tables.push_back(std::move(t));
  s.tables.push_back(not_taken_table(report));
  return s;
}

Section rows_section(const Report& report) {
  Section s{
      "rows",
      "Times",
      "Worst first: wrong outputs, then the lowest share of the limit. µs: median of single launches with a flushed L2 cache; "
      "time a row again with validate bench --op OP --kernel KERNEL --dtype DTYPE --shape 'SHAPE'.",
      {},
      true};
  std::vector<std::string> baselines;
  for (const ReportRow& row : report.rows)
    for (const auto& [baseline, ratio] : row.row->speedups)
      if (std::find(baselines.begin(), baselines.end(), baseline) == baselines.end()) baselines.push_back(baseline);
  std::sort(baselines.begin(), baselines.end());
  Table t{"",
          {{"op"},
           {"kernel"},
           {"dtype"},
           {"shape"},
           {"err/bound", true},
           {"µs", true},
           {"steady µs", true},
           {"GB/s", true},
           {"TFLOP/s", true},
           {"% of limit", true}},
          {}};
  for (const std::string& b : baselines) t.columns.push_back({"ratio to " + b, true});
  for (const char* name : {"score", "MiB", "DRAM MB", "change"}) t.columns.push_back({name, true});
  t.columns.push_back({"code"});
  t.columns.push_back({"run"});
  for (const ReportRow& row : report.rows) {
    const TimedRow& r = *row.row;
    const bool hashes = row.before && !row.before->code.empty() && !r.code.empty();
    Table::Row out{r.op,
                   {{r.op},
                    {r.kernel},
                    {r.dtype},
                    {r.shape},
                    {margin_text(r.margin), {}, !r.right()},
                    {microseconds(r.time_us.p50)},
                    {r.steady_us ? microseconds(*r.steady_us) : ""},
                    {fmt::format("{:.0f}", 1e-3 * r.bytes / r.time_us.p50)},
                    {fmt::format("{:.1f}", 1e-6 * r.flops / r.time_us.p50)},
                    {fmt::format("{:.1f} {}", 100 * r.share_of_limit, r.limit)}}};
    for (const std::string& b : baselines) {
      const auto ratio = r.speedups.find(b);
      const auto ends = r.intervals.find(b);
      Cell cell{ratio == r.speedups.end() || b == r.kernel ? "" : ratio_text(ratio->second)};
      if (!cell.text.empty() && ends != r.intervals.end())
        cell.text += fmt::format(" [{:.2f}, {:.2f}]", ends->second.low, ends->second.high);
      out.cells.push_back(std::move(cell));
    }
    out.cells.push_back({r.score ? fmt::format("{:.2f}", *r.score) : ""});
    out.cells.push_back({r.peak_bytes ? fmt::format("{:.1f}", *r.peak_bytes / (1 << 20)) : ""});
    out.cells.push_back({r.dram ? fmt::format("{:.2f}", 1e-6 * r.dram->sum()) : ""});
    out.cells.push_back({row.before ? fmt::format("{:+.1f} %", 100 * (r.time_us.p50 / row.before->time_us.p50 - 1)) : ""});
    out.cells.push_back({hashes ? row.before->code == r.code ? "unchanged" : "changed" : ""});
    out.cells.push_back({run_name(report, row.file)});
    t.rows.push_back(std::move(out));
  }
  s.tables.push_back(std::move(t));
  return s;
}

void drop_empty_columns(Table& t) {
  for (std::size_t c = t.columns.size(); c-- > 0;) {
    if (!std::all_of(t.rows.begin(), t.rows.end(),
                     [&](const Table::Row& r) { return r.cells[c].text.empty() && r.cells[c].notes.empty(); }))
      continue;
    t.columns.erase(t.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (Table::Row& r : t.rows) r.cells.erase(r.cells.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

}  // namespace

// Note: a margin below 1 must not be rounded to 1.
std::string margin_text(double v) {
  if (!std::isfinite(v)) return "wrong";
  return v < 1 && v > 0.999 ? fmt::format("{:.4f}", std::min(v, 0.9999)) : fmt::format("{:.3g}", v);
}
std::string figure_text(double v) {
  const double size = std::abs(v);
  return size >= 100 ? fmt::format("{:.1f}", v) : size >= 1 ? fmt::format("{:.2f}", v) : fmt::format("{:.3g}", v);
}
std::string share_text(std::optional<double> v, int digits) { return v ? fmt::format("{:.{}f} %", 100 * *v, digits) : ""; }
std::string ratio_text(double v) { return v > 0 ? fmt::format("{:.2f}×", v) : ""; }
std::string megabytes(std::optional<double> bytes) { return bytes ? figure_text(1e-6 * *bytes) : ""; }

std::vector<Section> sections_of(const Report& report) {
  std::vector<Section> all{ranked_section(report),    suites_section(report),      rows_section(report),
                           ablations_section(report), correctness_section(report), traffic_section(report),
                           resources_section(report), profiles_section(report),    models_section(report),
                           runs_section(report)};
  for (Section& s : all) {
    std::erase_if(s.tables, [](const Table& t) { return t.rows.empty(); });
    if (s.id != "suites")
      for (Table& t : s.tables) drop_empty_columns(t);
  }
  std::erase_if(all, [](const Section& s) { return s.tables.empty(); });
  return all;
}

}  // namespace assay
