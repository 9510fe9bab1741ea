// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "validate/base/error.hpp"
#include "validate/records/record.hpp"
#include "validate/records/text_file.hpp"

namespace assay {

namespace {

using Json = RecordJson;

// A number of a time, a rate or a size.  Beyond this bound no machine has one, and sums and ratios would overflow.
double figure_in(const Json& j, const std::string& name) {
  constexpr double kMost = 1e30;
  const double v = number_of(j, name);
  if (std::isfinite(v) && std::fabs(v) > kMost)
    throw BadInput(fmt::format("'{}' is {:.3g}, and at most {:g} is possible", name, v, kMost));
  return v;
}
double figure_in(const Json& record, const char* key) { return figure_in(field_in(record, key), std::string(key)); }

std::optional<double> optional_number(const Json& j, const char* key) {
  const auto at = j.find(key);
  if (at == j.end() || at->is_null()) return std::nullopt;
  return number_in(j, key);
}

std::optional<double> optional_figure(const Json& j, const char* key) {
  const auto at = j.find(key);
  return at == j.end() || at->is_null() ? std::nullopt : std::optional(figure_in(*at, std::string(key)));
}

std::int64_t whole_in(const Json& record, const char* key) {
  const Json& j = field_in(record, key);
  if (!j.is_number_integer()) throw BadInput(fmt::format("the field '{}' is not a whole number", key));
  return j.get<std::int64_t>();
}

double positive(const Json& j, const char* key) {
  const double v = figure_in(j, key);
  if (!(v > 0 && std::isfinite(v))) throw BadInput(fmt::format("'{}' is {}, not a positive number", key, v));
  return v;
}

MachineState machine_of(const Json& j) {
  return {.sm_mhz_min = j.value("sm_mhz_min", 0.0),
          .sm_mhz_max = j.value("sm_mhz_max", 0.0),
          .memory_mhz = j.value("memory_mhz", 0.0),
          .power_w_max = j.value("power_w_max", 0.0),
          .temperature_c_max = j.value("temperature_c_max", 0.0),
          .throttle = j.value("throttle", std::vector<std::string>{})};
}

// -1 if the field is missing or null.
double figure(const Json& j, const char* key) { return optional_figure(j, key).value_or(-1); }

std::optional<SuitePlace> suite_of(const Json& record) {
  const auto at = record.find("suite");
  if (at == record.end()) return std::nullopt;
  const Json& j = *at;
  SuitePlace s{.name = text_in(j, "name"), .table = j.value("table", ""), .label = j.value("label", ""), .reported = {}};
  if (const auto reported = j.find("reported"); reported != j.end() && reported->is_object())
    for (const auto& [key, said] : reported->items())
      if (!said.is_null()) s.reported.emplace_back(key, said.is_string() ? said.get<std::string>() : said.dump());
  return s;
}

FunctionResources function_resources(const Json& j) {
  return {.function = text_in(j, "function"),
          .registers = figure(j, "registers"),
          .static_shared = figure(j, "static_shared"),
          .dynamic_shared = figure(j, "dynamic_shared"),
          .local_bytes = figure(j, "local_bytes"),
          .threads = figure(j, "threads"),
          .blocks = figure(j, "blocks"),
          .blocks_per_sm = figure(j, "blocks_per_sm"),
          .occupancy = figure(j, "occupancy")};
}

Summary summary_in(const Json& t) {
  Summary s;
  s.p50 = positive(t, "median");
  s.p5 = figure_in(t, "p5");
  s.p95 = figure_in(t, "p95");
  s.min = figure_in(t, "min");
  s.max = figure_in(t, "max");
  s.mean = t.value("mean", 0.0);
  s.std = t.value("std", 0.0);
  s.p99 = optional_figure(t, "p99");
  s.n = static_cast<std::size_t>(whole_in(t, "samples"));
  return s;
}

Clusters samples_in(const Json& j) {
  Clusters samples;
  if (const auto kept = j.find("samples_us"); kept != j.end())
    for (const Json& process : *kept) {
      samples.push_back(process.get<std::vector<double>>());
      for (const double us : samples.back())
        if (!(us > 0 && us <= 1e30)) throw BadInput(fmt::format("a sample is {} us", us));
    }
  return samples;
}

// The shape of a time.  A rest before each launch, or a clean cache, makes it another row, so that no comparison mixes the two.
std::string timed_shape(const Json& j) {
  std::string shape = text_in(j, "shape");
  const double rest_s = j.value("rest_s", 0.0);
  if (j.value("l2", "") == "clean") shape += " (clean L2)";
  return rest_s > 0 ? fmt::format("{} (after {} s of rest)", shape, rest_s) : shape;
}

Timing timing_in(const Json& j) {
  Timing t{.op = text_in(j, "op"),
           .kernel = text_in(j, "kernel"),
           .dtype = text_in(j, "dtype"),
           .shape = timed_shape(j),
           .what = text_in(j, "what"),
           .source = text_in(j, "source"),
           .time_us = {},
           .samples = samples_in(j),
           .left_out = j.value("left_out", "")};
  if (j.contains("left_out") == j.contains("time_us")) throw BadInput("a timing has either 'time_us' or 'left_out'");
  if (j.contains("time_us")) t.time_us = summary_in(j["time_us"]);
  else if (t.left_out.empty()) throw BadInput("'left_out' gives no reason");
  return t;
}

ProfileRow profile_row(const Json& j) {
  ProfileRow r{.op = text_in(j, "op"),
               .kernel = text_in(j, "kernel"),
               .dtype = text_in(j, "dtype"),
               .shape = text_in(j, "shape"),
               .function = j.value("function", ""),
               .time_us = figure(j, "time_us"),
               .registers = figure(j, "registers"),
               .occupancy_theoretical = figure(j, "occupancy_theoretical"),
               .occupancy_achieved = figure(j, "occupancy_achieved"),
               .memory_share = figure(j, "memory_share"),
               .compute_share = figure(j, "compute_share"),
               .dram_share = figure(j, "dram_share"),
               .dram_read_bytes = figure(j, "dram_read_bytes"),
               .dram_written_bytes = figure(j, "dram_written_bytes"),
               .stalls = {}};
  if (const auto stalls = j.find("stalls"); stalls != j.end())
    for (const auto& [reason, share] : stalls->items()) r.stalls.emplace_back(reason, figure_in(share, reason));
  std::stable_sort(r.stalls.begin(), r.stalls.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return r;
}

TimedRow timed_row(const Json& j) {
  TimedRow r;
  r.op = text_in(j, "op");
  r.kernel = text_in(j, "kernel");
  r.dtype = text_in(j, "dtype");
  r.shape = timed_shape(j);
  r.time_us = summary_in(field_in(j, "time_us"));
  r.samples = samples_in(j);
  if (const auto steady = j.find("steady_us"); steady != j.end()) r.steady_us = positive(*steady, "median");
  r.score = optional_figure(j, "score");
  r.flops = figure_in(j, "flops");
  r.bytes = figure_in(field_in(j, "bytes"), "formula");
  r.unfused_bytes = figure_in(field_in(j, "bytes"), "unfused_formula");
  r.copy_rate = figure_in(j, "copy_rate_bytes_per_s");
  r.matrix_rate = optional_figure(j, "matrix_rate_flops_per_s").value_or(0);
  r.limit = j.value("limit", "copy");
  r.share_of_limit = j.contains("share_of_limit") ? figure_in(j, "share_of_limit") : figure_in(j, "share_of_copy");
  if (const auto all = j.find("speedups"); all != j.end())
    for (const auto& [baseline, ratio] : all->items()) r.speedups[baseline] = figure_in(ratio, baseline);
  else if (const auto ratio = optional_figure(j, "speedup")) r.speedups[text_in(j, "baseline")] = *ratio;
  if (const auto all = j.find("speedup_intervals"); all != j.end())
    for (const auto& [baseline, ends] : all->items())
      r.intervals[baseline] = {figure_in(ends.at(0), baseline), figure_in(ends.at(1), baseline)};
  r.margin = number_in(j, "margin_after_timing");
  if (const auto memory = j.find("device_bytes"); memory != j.end()) r.peak_bytes = figure_in(*memory, "peak");
  r.planted = j.value("planted", 0.0);
  r.code = j.value("code", "");
  if (const auto machine = j.find("machine"); machine != j.end()) r.machine = machine_of(*machine);
  r.suite = suite_of(j);
  if (j.contains("step")) r.step = static_cast<int>(whole_in(j, "step"));
  if (const auto dram = j.find("dram"); dram != j.end())
    r.dram = DramBytes{figure_in(*dram, "read_bytes"), figure_in(*dram, "written_bytes")};
  if (const auto functions = j.find("resources"); functions != j.end())
    for (const Json& f : *functions) r.resources.push_back(function_resources(f));
  return r;
}

std::optional<WorstElement> worst_in(const Json& record) {
  const auto at = record.find("worst");
  if (at == record.end()) return std::nullopt;
  return WorstElement{.tensor = text_in(*at, "tensor"),
                      .index = field_in(*at, "index").get<std::vector<std::int64_t>>(),
                      .got = number_in(*at, "got"),
                      .golden = number_in(*at, "golden"),
                      .bound = number_in(*at, "bound"),
                      .tile = at->value("tile", "")};
}

JudgedCase judged_case(const Json& j, const RecordFile& f) {
  JudgedCase c{.op = text_in(j, "op"),
               .kernel = text_in(j, "kernel"),
               .dtype = text_in(j, "dtype"),
               .verdict = text_in(j, "verdict"),
               .reason = j.value("reason", ""),
               .pattern = j.value("pattern", ""),
               .reads_like = j.value("reads_like", ""),
               .repro = text_in(j, "repro"),
               .digest = j.value("digest", ""),
               .source = j.value("source", ""),
               .loaded = j.value("loaded", ""),
               .code = j.value("code", ""),
               .numerics = j.value("numerics", ""),
               .not_checked = j.value("not_checked", std::vector<std::string>{}),
               .caught_by = j.value("caught_by", std::vector<std::string>{}),
               .would_pass = j.value("would_pass", std::vector<std::string>{}),
               .margin = optional_number(j, "margin"),
               .max_abs_error = optional_number(j, "max_abs_error"),
               .deterministic = {},
               .worst = j.contains("wrong") && whole_in(j, "wrong") > 0 ? worst_in(j) : std::nullopt};
  if (const auto at = j.find("deterministic"); at != j.end()) c.deterministic = at->get<bool>();
  if (const auto at = f.judges.find(c.op); at != f.judges.end()) c.judge = at->second;
  return c;
}

ShrunkCase shrunk_case(const Json& j) {
  const auto reruns = [&](const char* key) {
    return ShrunkCase::Reruns{whole_in(field_in(j, key), "run"), whole_in(field_in(j, key), "failed")};
  };
  const auto smallest = j.find("smallest");
  return {.of = text_in(j, "of"),
          .label = j.value("label", ""),
          .smallest = smallest == j.end() ? "" : text_in(*smallest, "repro"),
          .reads_like = smallest == j.end() ? "" : smallest->value("reads_like", ""),
          .after = j.contains("after") ? j["after"].size() : 0,
          .same_seed = reruns("same_seed"),
          .other_seeds = reruns("other_seeds")};
}

PlantedFault fault_in(const Json& j) {
  return {.op = text_in(j, "op"),
          .kernel = text_in(j, "kernel"),
          .dtype = text_in(j, "dtype"),
          .fault = text_in(j, "fault"),
          .tried = whole_in(j, "tried"),
          .rejected = text_in(j, "verdict") == "passed"};
}

DecodeTimes decode_times(const Json& j) {
  DecodeTimes t{.config = text_in(j, "config"),
                .dtype = text_in(j, "dtype"),
                .prompt = whole_in(j, "prompt"),
                .batch = whole_in(j, "batch"),
                .token_s = positive(j, "token_s"),
                .tokens_s = positive(j, "tokens_s"),
                .floor_share = figure_in(j, "floor_share"),
                .copy_rate = positive(j, "copy_rate"),
                .kinds = {}};
  for (const Json& k : field_in(j, "steps"))
    t.kinds.push_back({.op = text_in(k, "op"),
                       .kernel = text_in(k, "kernel"),
                       .name = text_in(k, "name"),
                       .count = whole_in(k, "count"),
                       .us = positive(k, "us"),
                       .bytes = figure_in(k, "bytes")});
  return t;
}

LeftOut left_out_in(const Json& j) {
  return {.op = text_in(j, "op"),
          .kernel = text_in(j, "kernel"),
          .dtype = text_in(j, "dtype"),
          .shape = text_in(j, "shape"),
          .reason = text_in(j, "reason"),
          .suite = suite_of(j)};
}

constexpr double kSectorBytes = 32;

CountedTraffic counted_traffic(const Json& j) {
  CountedTraffic t{
      .op = text_in(j, "op"), .kernel = text_in(j, "kernel"), .dtype = text_in(j, "dtype"), .repro = text_in(j, "repro")};
  const Json& bytes = field_in(j, "bytes");
  t.formula = figure_in(bytes, "formula");
  t.unfused_formula = figure_in(bytes, "unfused_formula");
  if (const auto counted = bytes.find("counted"); counted != bytes.end())
    for (const auto& [tensor, c] : counted->items()) {
      t.unique += figure_in(c, "unique_read_bytes") + figure_in(c, "unique_written_bytes");
      t.requested += figure_in(c, "read_bytes") + figure_in(c, "written_bytes");
      t.sectors +=
          kSectorBytes * (optional_figure(c, "read_sectors").value_or(0) + optional_figure(c, "written_sectors").value_or(0));
    }
  return t;
}

void read_head(const Json& j, RecordFile& f) {
  if (const std::int64_t schema = whole_in(j, "schema"); schema != kSchemaVersion)
    throw BadInput(fmt::format("it has schema {}, this program reads schema {}", schema, kSchemaVersion));
  f.version = text_in(j, "version");
  f.commit = text_in(j, "commit");
  f.compiler = text_in(j, "compiler");
  f.build = text_in(j, "build");
  f.backend = text_in(j, "backend");
  f.device = text_in(j, "device");
  f.host = text_in(j, "host");
  f.date = text_in(j, "date");
  f.suite = text_in(j, "suite");
  f.driver = j.value("driver", "");
  f.planned = j.contains("cases") ? whole_in(j, "cases") : 0;
  f.libraries = j.value("libraries", std::map<std::string, std::string>{});
  f.kernels = j.value("kernels", std::map<std::string, std::string>{});
  f.judges = j.value("judges", std::map<std::string, std::string>{});
  f.suites = j.value("suites", "");
  f.sandbox = j.value("sandbox", "");
  if (const auto accepted = j.find("accepted"); accepted != j.end()) f.accepted = text_in(*accepted, "reason");
}

// Why the cases of a file are not all that were asked for; `end`: its last record, null where there is none.
std::string why_incomplete(const RecordFile& f, const Json& end) {
  if (end.is_null()) return "the file ends before its run did";
  if (end.value("interrupted", false)) return "the run was interrupted";
  if (const auto missing = end.value("missing", std::vector<std::string>{}); !missing.empty())
    return fmt::format("missing: {}", fmt::join(missing, ", "));
  if (const auto n = end.value("incomplete", std::int64_t{0})) return fmt::format("{} cases were not judged", n);
  const auto there = static_cast<std::int64_t>(f.cases.size());
  return there < f.planned ? fmt::format("{} of {} cases are missing", f.planned - there, f.planned) : "";
}

}  // namespace

RecordFile records_in(const std::string& text, const std::string& path) {
  RecordFile f;
  f.path = path;
  Json end;
  each_record(text, path, [&](const std::string& line, const Json& j) {
    const std::string kind = j.value("record", "");
    if (f.lines.empty() != (kind == "run"))
      throw BadInput(f.lines.empty() ? "a file of records begins with a run, which this line is not"
                                     : "a second run begins here");
    if (kind == "run") read_head(j, f);
    else if (kind == "bench") f.rows.push_back(timed_row(j));
    else if (kind == "case") f.cases.push_back(judged_case(j, f));
    else if (kind == "shrunk") f.shrunk.push_back(shrunk_case(j));
    else if (kind == "power") f.faults.push_back(fault_in(j));
    else if (kind == "traffic") f.traffic.push_back(counted_traffic(j));
    else if (kind == "timing") f.timings.push_back(timing_in(j));
    else if (kind == "model") f.models.push_back(decode_times(j));
    else if (kind == "profile") f.profiles.push_back(profile_row(j));
    else if (kind == "left_out") f.left_out.push_back(left_out_in(j));
    else if (kind == "end") end = j;
    f.lines.push_back(line);
  });
  if (f.lines.empty()) throw BadInput(fmt::format("'{}' holds no records", path));
  if (!f.cases.empty() || f.planned) f.incomplete = why_incomplete(f, end);
  return f;
}

RecordFile read_records(const std::string& path) { return records_in(read_text_file(path), path); }

}  // namespace assay
