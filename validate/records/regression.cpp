// SPDX-License-Identifier: Apache-2.0
#include "validate/records/regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "validate/base/error.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

// The reason why a row has too few samples; empty if it has enough.
std::string too_few(const TimedRow& row, const TimeRule& rule) {
  std::size_t processes = 0, least = row.samples.empty() ? 0 : row.samples[0].size();
  for (const auto& samples : row.samples) {
    ++processes;
    least = std::min(least, samples.size());
  }
  if (processes >= rule.least_processes && least >= rule.least_samples) return "";
  if (processes == 0) return "no samples were kept";
  return fmt::format("{} processes of {} samples, needs {} of {}", processes, least, rule.least_processes, rule.least_samples);
}

void decide(TimeChange& c, const TimeRule& rule) {
  const Interval i = c.interval;
  const double base_us = median_of(c.base->samples);
  const bool above = i.low > 1 + c.floor, below = i.high < 1 / (1 + c.floor);
  const double furthest = std::max(std::fabs(i.low - 1), std::fabs(i.high - 1)) * base_us;
  if ((above || below) && c.q < rule.most_q && std::fabs(c.delta_us) > rule.least_us) {
    c.change = above ? Change::slower : Change::faster;
  } else if (i.low >= 1 / (1 + c.floor) && i.high <= 1 + c.floor) {
    c.change = Change::same;
    c.why = fmt::format("within {:.1f} %", 100 * c.floor);
  } else if (furthest <= rule.least_us) {
    c.change = Change::same;
    c.why = fmt::format("within {} us", rule.least_us);
  } else {
    c.change = Change::inconclusive;
    c.why = above || below ? (c.q < rule.most_q ? fmt::format("a difference of {:.2f} us", std::fabs(c.delta_us))
                                                : fmt::format("q = {:.2g}", c.q))
                           : fmt::format("the interval reaches over {:.1f} %{}", 100 * c.floor,
                                         c.floor > rule.least_share ? ", what the row differs from itself by" : "");
  }
}

std::string machine_note(const TimedRow& base, const TimedRow& now) {
  if (!base.machine || !now.machine) return "";
  std::string note;
  for (const TimedRow* row : {&base, &now})
    if (!row->machine->throttle.empty())
      note += fmt::format(" · {} throttled: {}", row == &base ? "base" : "new", fmt::join(row->machine->throttle, ", "));
  const std::optional<double> a = base.machine->sm_mhz_max, b = now.machine->sm_mhz_max;
  if (a && b) note += std::fabs(*b / *a - 1) < 0.01 ? " · clocks equal" : fmt::format(" · clocks {:.0f} -> {:.0f} MHz", *a, *b);
  return note;
}

// A kernel's worst err/bound in each file, over the cases or rows that both have.
struct Worst {
  double base = 0, now = 0;
  std::string where;
  void add(double b, double n, const std::string& at) {
    base = std::max(base, b);
    if (!(n <= now)) {
      now = n;
      where = at;
    }
  }
  bool grown_by_half() const { return std::isfinite(base) && !(now <= 1.5 * base); }
};

// The version that a map has under a key; empty: unknown.
std::string version_of(const std::map<std::string, std::string>& versions, const std::string& key) {
  const auto at = versions.find(key);
  return at == versions.end() ? "" : at->second;
}

// What two code hashes say; nothing if one is unknown.
std::string_view binary_of(const std::string& base, const std::string& now) {
  if (base.empty() || now.empty()) return "";
  return base == now ? "binary unchanged" : "binary changed";
}

// What of kernel and judge changed between two files, in brackets; nothing if that is unknown.
std::string changed_text(const RecordFile& base, const JudgedCase& was, const RecordFile& now, const JudgedCase& is) {
  const std::string kernel = is.op + "/" + is.kernel;
  const auto code = [&](const RecordFile& f, const JudgedCase& c) {
    return c.code.empty() ? version_of(f.kernels, kernel) : c.code;
  };
  const std::string_view binary = binary_of(code(base, was), code(now, is));
  const std::string judge_was = version_of(base.judges, is.op), judge_is = version_of(now.judges, is.op);
  if (judge_was.empty() || judge_is.empty() || judge_was == judge_is) return binary.empty() ? "" : fmt::format(" ({})", binary);
  if (binary == "binary unchanged") return " (the judge changed, not the kernel)";
  return binary.empty() ? " (the judge changed)" : " (kernel and judge changed)";
}

// What makes verdicts on the same case say another thing, of a kernel, each once.
class Terms {
 public:
  void compare(const JudgedCase& was, const JudgedCase& is) {
    const std::string kernel = was.op + "/" + was.kernel;
    if (was.numerics != is.numerics && !was.numerics.empty() && !is.numerics.empty())
      changes_.insert(fmt::format("declares other numerics, '{}' -> '{}': {}", was.numerics, is.numerics, kernel));
    for (const std::string& what : is.not_checked)
      if (std::find(was.not_checked.begin(), was.not_checked.end(), what) == was.not_checked.end())
        changes_.insert(fmt::format("is no longer checked, {}: {}", what, kernel));
  }
  void add_to(std::vector<std::string>& found) const { found.insert(found.end(), changes_.begin(), changes_.end()); }

 private:
  std::set<std::string> changes_;
};

template <class T, class Key>
std::map<std::string, const T*> by_key(const std::vector<T>& all, Key key) {
  std::map<std::string, const T*> found;
  for (const T& one : all) found[key(one)] = &one;
  return found;
}

}  // namespace

std::string_view TimeChange::binary() const { return binary_of(base->code, now->code); }

std::vector<TimeChange> time_changes(const std::vector<RowPair>& pairs, const TimeRule& rule, const std::string& why_not) {
  std::vector<TimeChange> all(pairs.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    TimeChange& c = all[i];
    c.base = pairs[i].base;
    c.now = pairs[i].now;
    c.ratio = c.now->time_us.p50 / c.base->time_us.p50;
    c.delta_us = c.now->time_us.p50 - c.base->time_us.p50;
    c.why = why_not;
    if (c.why.empty()) c.why = too_few(*c.base, rule);
    if (c.why.empty()) c.why = too_few(*c.now, rule);
    if (!c.why.empty()) continue;
    const Clusters &a = c.base->samples, &b = c.now->samples;
    c.ratio = median_of(b) / median_of(a);
    c.delta_us = median_of(b) - median_of(a);
    c.interval = ratio_interval(a, b, rule.confidence, random::key(rule.seed, i, random::Purpose::seed));
    c.p = mann_whitney(a, b);
    c.floor = std::max({rule.least_share, split_spread(a), split_spread(b)});
  }
  std::vector<double> p;
  for (const TimeChange& c : all)
    if (c.why.empty()) p.push_back(c.p);
  const std::vector<double> q = false_discovery_rates(p);
  std::size_t at = 0;
  for (TimeChange& c : all) {
    if (!c.why.empty()) continue;
    c.q = q[at++];
    decide(c, rule);
    if (c.change != Change::same) c.why += machine_note(*c.base, *c.now);
  }
  return all;
}

std::vector<std::string> correctness_regressions(const RecordFile& base, const RecordFile& now) {
  std::vector<std::string> found;
  std::map<std::string, Worst> margins;
  Terms terms;
  bool any = false;
  const auto cases = by_key(now.cases, [](const JudgedCase& c) { return c.repro; });
  for (const JudgedCase& was : base.cases) {
    const auto at = cases.find(was.repro);
    if (at == cases.end()) continue;
    const JudgedCase& is = *at->second;
    any = true;
    if (was.verdict == "passed" && is.verdict == "passed") terms.compare(was, is);
    const std::string binary = changed_text(base, was, now, is);
    if (was.verdict == "passed" && is.verdict != "passed")
      found.push_back(
          fmt::format("passed, is {} now{}{}{}: {}", is.verdict, binary, is.reason.empty() ? "" : ": ", is.reason, was.repro));
    if (was.deterministic.value_or(false) && !is.deterministic.value_or(true))
      found.push_back(fmt::format("gave the same bits at every run, does not now{}: {}", binary, was.repro));
    if (was.margin && is.margin && !is.bad()) margins[was.kernel_key()].add(*was.margin, *is.margin, is.repro);
  }
  terms.add_to(found);
  if (any && base.backend != now.backend)
    found.push_back(fmt::format("was judged on {}, is judged on {} now", base.backend, now.backend));
  if (any && now.sandbox.starts_with("off") && !base.sandbox.empty() && !base.sandbox.starts_with("off"))
    found.push_back(fmt::format("was judged in a sandbox ({}), is not now", base.sandbox));
  const auto rows = by_key(now.rows, [](const TimedRow& r) { return r.key(); });
  std::map<std::string, Worst> after_timing;
  for (const TimedRow& was : base.rows)
    if (const auto at = rows.find(was.key()); at != rows.end())
      after_timing[was.kernel_key()].add(was.margin, at->second->margin, was.shape + ", after timing");
  for (const auto* worst : {&margins, &after_timing})
    for (const auto& [kernel, w] : *worst)
      if (w.grown_by_half())
        found.push_back(fmt::format("worst err/bound {:.3g} -> {:.3g}: {} at {}", w.base, w.now, kernel, w.where));
  for (const LeftOut& out : now.left_out) {
    const auto was = std::find_if(base.rows.begin(), base.rows.end(), [&](const TimedRow& r) {
      return r.op == out.op && r.kernel == out.kernel && r.dtype == out.dtype && r.shape == out.shape;
    });
    if (was != base.rows.end()) found.push_back(fmt::format("was timed, is left out now: {}: {}", was->key(), out.reason));
  }
  return found;
}

std::size_t Difference::count(Change c) const {
  return static_cast<std::size_t>(std::count_if(times.begin(), times.end(), [&](const auto& t) { return t.change == c; }));
}

Difference difference(const RecordFile& base, const RecordFile& now, const TimeRule& rule) {
  Difference d;
  const auto rows = by_key(now.rows, [](const TimedRow& r) { return r.key(); });
  std::vector<RowPair> pairs;
  for (const TimedRow& was : base.rows)
    if (const auto at = rows.find(was.key()); at != rows.end()) pairs.push_back({&was, at->second});
  const auto cases = by_key(now.cases, [](const JudgedCase& c) { return c.repro; });
  for (const JudgedCase& was : base.cases) {
    const auto at = cases.find(was.repro);
    if (at == cases.end()) continue;
    ++d.cases_in_both;
    d.better += was.bad() && at->second->verdict == "passed";
  }
  const std::size_t both = pairs.size() + d.cases_in_both;
  if (both == 0) throw BadInput(fmt::format("'{}' and '{}' have no row and no case in common", base.path, now.path));
  d.only_in_base = base.rows.size() + base.cases.size() - both;
  d.only_in_now = now.rows.size() + now.cases.size() - both;
  d.regressions = correctness_regressions(base, now);
  for (const auto& [op, version] : now.judges)
    if (const std::string was = version_of(base.judges, op); !was.empty() && was != version) d.judges_changed.push_back(op);
  d.suites_changed = !base.suites.empty() && !now.suites.empty() && base.suites != now.suites;
  const std::string why_not = base.device == now.device ? "" : fmt::format("timed on {} and on {}", base.device, now.device);
  d.times = time_changes(pairs, rule, why_not);
  const auto rank = [](Change c) {
    return c == Change::slower ? 0 : c == Change::faster ? 1 : c == Change::inconclusive ? 2 : 3;
  };
  std::stable_sort(d.times.begin(), d.times.end(), [&](const TimeChange& a, const TimeChange& b) {
    if (a.change != b.change) return rank(a.change) < rank(b.change);
    return std::fabs(std::log(a.ratio)) > std::fabs(std::log(b.ratio));
  });
  return d;
}

double Calibration::false_alarm_rate() const {
  const std::size_t alarms = changes[static_cast<int>(Change::slower)] + changes[static_cast<int>(Change::faster)];
  return rows > 0 ? static_cast<double>(alarms) / static_cast<double>(rows * splits) : 0;
}

Calibration calibrate(const RecordFile& file, TimeRule rule) {
  constexpr std::size_t kSplits = 10;
  std::size_t processes = file.rows.empty() ? 0 : file.rows[0].samples.size();
  for (const TimedRow& row : file.rows) processes = std::min(processes, row.samples.size());
  if (processes < 4)
    throw BadInput(
        fmt::format("'{}': every row needs samples of at least 4 processes; there is one with {}", file.path, processes));
  Calibration c{.rows = file.rows.size(), .splits = kSplits, .processes = processes / 2};
  rule.least_processes = std::min(rule.least_processes, c.processes);
  std::vector<double> spreads;
  for (std::size_t split = 0; split < kSplits; ++split) {
    // The first split takes every other process, the others are random.
    std::vector<std::size_t> order(processes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto rank = [&](std::size_t i) {
        return split ? random::key(rule.seed + split, i, random::Purpose::kind) : i % 2 * processes + i;
      };
      return rank(a) < rank(b);
    });
    std::vector<TimedRow> halves[2];
    for (const TimedRow& row : file.rows)
      for (std::size_t half = 0; half < 2; ++half) {
        TimedRow part = row;
        part.samples.clear();
        for (std::size_t i = 0; i < c.processes; ++i)
          part.samples.push_back(row.samples[order[half * (processes - c.processes) + i]]);
        halves[half].push_back(std::move(part));
      }
    std::vector<RowPair> pairs;
    for (std::size_t i = 0; i < file.rows.size(); ++i) pairs.push_back({&halves[0][i], &halves[1][i]});
    for (const TimeChange& t : time_changes(pairs, rule)) {
      ++c.changes[static_cast<std::size_t>(t.change)];
      spreads.push_back(std::fabs(t.ratio - 1));
    }
  }
  c.spread_median = quantile(spreads, 0.5);
  c.spread_p95 = quantile(spreads, 0.95);
  c.spread_max = quantile(spreads, 1);
  return c;
}

}  // namespace assay
