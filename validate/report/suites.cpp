// SPDX-License-Identifier: Apache-2.0
// Sets our times beside the published tables line by line, and collects ablations and ranked rows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "validate/report/report.hpp"

namespace assay {

namespace {

// The units of published figures, by the ends of their names.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kUnits{
    {{"_us", " µs"}, {"_ms", " ms"}, {"_mb", " MB"}, {"_percent", " %"}, {"_tflops", " TFLOP/s"}}};
constexpr double kResolution = 1.02;  // the uncertainty assumed for a ratio without an interval

bool same_problem(const auto& a, const auto& b) { return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape; }

bool same_place(const SuitePlace& a, const SuitePlace& b) { return a.name == b.name && a.table == b.table && a.label == b.label; }

// The index in kContenders of a kernel that is not ours.  Whatever is not unfused, eager or compiled calls a library.
std::size_t contender_of(const std::string& kernel, bool elsewhere) {
  if (kernel == "unfused") return 2;
  const std::string_view name = std::string_view(kernel).substr(elsewhere ? kernel.find('_') + 1 : 9);
  return name.starts_with("eager") ? 0 : name.starts_with("compile") ? 1 : 3;
}

// The largest number in the published speedups: 1.5 for "1.2-1.5x".  Percentages do not count.
double claim_of(const SuitePlace& place) {
  double most = 0;
  for (const auto& [key, said] : place.reported) {
    if (key.find("speedup") == std::string::npos || said.find('%') != std::string::npos) continue;
    for (const char* at = said.c_str(); *at;) {
      char* end = nullptr;
      if (*at < '0' || *at > '9') {
        ++at;
        continue;
      }
      most = std::max(most, std::strtod(at, &end));
      at = end;
    }
  }
  return most;
}

// The latest record of each kernel that another program timed on the same device; one without a time only if no other exists.
std::map<std::string, const Timing*> taken_elsewhere(const Report& report, const SuiteLine& line) {
  std::map<std::string, const Timing*> latest;
  for (const RecordFile& f : report.files)
    for (const Timing& e : f.timings)
      if (f.device == line.file->device && same_problem(e, line)) {
        const Timing*& known = latest[e.kernel];
        if (!known || e.left_out.empty() || !known->left_out.empty()) known = &e;
      }
  return latest;
}

void add_contender(SuiteLine& line, Contender c) {
  if (c.us > 0 && line.ours) {
    c.ratio = c.us / line.ours->time_us.p50;
    if (const auto at = line.ours->intervals.find(c.kernel); !c.elsewhere && at != line.ours->intervals.end())
      c.interval = at->second;
    c.beyond = line.most > 0 && (c.interval ? c.interval->low : c.ratio / kResolution) > line.most;
  }
  line.contenders[contender_of(c.kernel, c.elsewhere)].push_back(std::move(c));
}

// Fills in the times of a problem: ours, the other kernels' and other programs'.
void fill_times(const Report& report, SuiteLine& line) {
  for (const TimedRow* r : line.rows) {
    if (!r->right()) continue;
    if (r->kernel == "unfused") line.unfused = r;
    if (is_own(r->kernel) && (!line.ours || r->time_us.p50 < line.ours->time_us.p50)) line.ours = r;
  }
  if (const TimedRow* any = line.any()) {
    line.limit_us = any->share_of_limit * any->time_us.p50;
    line.most = fusion_at_most(*any);
  }
  for (const TimedRow* r : line.rows)
    if (!is_own(r->kernel))
      add_contender(line, {.kernel = r->kernel,
                           .us = r->right() ? r->time_us.p50 : 0,
                           .interval = {},
                           .why = r->right() ? "" : fmt::format("wrong: err/bound {:.3g}", r->margin)});
    else if (!line.ours) line.why = fmt::format("{} was wrong: err/bound {:.3g}", r->kernel, r->margin);
  for (const auto& [kernel, e] : taken_elsewhere(report, line))
    add_contender(line, {.kernel = kernel, .us = e->time_us.p50, .interval = {}, .elsewhere = true, .why = e->left_out});
}

bool faster(const Contender& a, const Contender& b) { return a.us > 0 && (!(b.us > 0) || a.us < b.us); }

void fill_line(const Report& report, SuiteLine& line) {
  fill_times(report, line);
  line.claimed = claim_of(*line.place);
  line.claimed_beyond = line.most > 0 && line.claimed > kResolution * line.most;
  for (const LeftOut& out : line.file->left_out) {
    if (!same_problem(out, line) || (out.suite && !same_place(*out.suite, *line.place))) continue;
    if (!is_own(out.kernel)) add_contender(line, {.kernel = out.kernel, .interval = {}, .why = out.reason});
    else if (!line.ours && line.why.empty()) line.why = fmt::format("{}: {}", out.kernel, out.reason);
  }
  for (auto& all : line.contenders) std::stable_sort(all.begin(), all.end(), faster);
}

template <class T>
T& found_or_added(std::vector<T>& all, auto is_it) {
  const auto at = std::find_if(all.begin(), all.end(), is_it);
  return at != all.end() ? *at : all.emplace_back();
}

// The line of a record in its table; added if new, and emptied if it came from an older file.
SuiteLine& line_of(Report& report, const RecordFile& f, const auto& r) {
  RestatedTable& table = found_or_added(
      report.suites, [&](const RestatedTable& t) { return t.suite == r.suite->name && t.title == r.suite->table; });
  table.suite = r.suite->name;
  table.title = r.suite->table;
  SuiteLine& line =
      found_or_added(table.lines, [&](const SuiteLine& l) { return l.place->label == r.suite->label && same_problem(l, r); });
  if (line.file != &f) {
    line = {
        .place = &*r.suite, .file = &f, .op = r.op, .dtype = r.dtype, .shape = r.shape, .why = {}, .rows = {}, .contenders = {}};
  }
  return line;
}

}  // namespace

double fusion_at_most(const TimedRow& r) {
  if (!(r.copy_rate > 0 && r.bytes > 0)) return 0;
  // At the ceilings the unfused pipeline takes at most the fused kernel's time plus that of copying the bytes between its steps.
  const double limit = std::max(r.bytes / r.copy_rate, r.matrix_rate ? r.flops / *r.matrix_rate : 0);
  return 1 + std::max(0.0, r.unfused_bytes - r.bytes) / r.copy_rate / limit;
}

std::string words(const SuitePlace& place) {
  std::string text;
  for (const auto& [key, said] : place.reported) {
    std::string name = key, unit;
    for (const auto& [end, sign] : kUnits)
      if (name.ends_with(end) && said.find_first_not_of("0123456789.") == std::string::npos) {
        name.resize(name.size() - end.size());
        unit = sign;
      }
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, said, unit);
  }
  return text;
}

void add_suites(Report& report) {
  std::map<std::tuple<std::string, std::string, std::string>, Ablation> ladders;
  for (const RecordFile& f : report.files) {
    std::map<std::tuple<std::string, std::string, std::string>, Ablation> here;
    for (const TimedRow& r : f.rows) {
      if (r.suite)
        found_or_added(line_of(report, f, r).rows, [&](const TimedRow* other) { return other->kernel == r.kernel; }) = &r;
      if (!r.step) continue;
      Ablation& a = here[{r.op, r.dtype, r.shape}];
      a.file = &f;
      found_or_added(a.steps, [&](const TimedRow* other) { return other->kernel == r.kernel; }) = &r;
    }
    for (const LeftOut& out : f.left_out)
      if (out.suite) line_of(report, f, out);
    for (auto& [key, a] : here)
      if (a.steps.size() > 1) ladders[key] = std::move(a);
  }
  for (RestatedTable& table : report.suites)
    for (SuiteLine& line : table.lines) fill_line(report, line);
  for (auto& [key, a] : ladders) {
    std::stable_sort(a.steps.begin(), a.steps.end(), [](const TimedRow* x, const TimedRow* y) { return *x->step < *y->step; });
    report.ablations.push_back(std::move(a));
  }
}

std::string library_of(const Contender& c) {
  const auto has = [&](std::string_view part) { return c.kernel.find(part) != std::string::npos; };
  for (const auto& [part, name] : {std::pair{"cudnn", "cuDNN"},
                                   {"cublaslt", "cuBLASLt"},
                                   {"_cub", "CUB"},
                                   {"_eager", "eager"},
                                   {"_compile", "compile"},
                                   {"_sdpa", "SDPA"}})
    if (has(part)) return name;
  return c.kernel;
}

void add_ranked_rows(Report& report) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, RankedRow> latest;
  for (const RecordFile& f : report.files) {
    std::map<std::tuple<std::string, std::string, std::string>, SuiteLine> here;
    for (const TimedRow& r : f.rows) {
      if (r.planted > 0) continue;
      SuiteLine& line = here[{r.op, r.dtype, r.shape}];
      line.file = &f;
      line.op = r.op;
      line.dtype = r.dtype;
      line.shape = r.shape;
      found_or_added(line.rows, [&](const TimedRow* other) { return other->kernel == r.kernel; }) = &r;
    }
    for (auto& [key, line] : here) {
      fill_times(report, line);
      RankedRow s{.file = &f, .ours = line.ours, .limit_us = line.limit_us, .others = {}};
      for (const auto& all : line.contenders)
        for (const Contender& c : all)
          if (c.us > 0 && c.kernel != "unfused") s.others.push_back(c);
      std::stable_sort(s.others.begin(), s.others.end(), faster);
      if (s.ours && !s.others.empty()) latest[{f.device, line.op, line.dtype, line.shape}] = std::move(s);
    }
  }
  for (auto& [key, s] : latest) report.ranked.push_back(std::move(s));
  std::stable_sort(report.ranked.begin(), report.ranked.end(), [](const RankedRow& a, const RankedRow& b) {
    return a.ours->op != b.ours->op ? a.ours->op < b.ours->op : a.best().ratio < b.best().ratio;
  });
}

}  // namespace assay
