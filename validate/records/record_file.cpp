// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "validate/base/error.hpp"
#include "validate/records/record.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;  // a document's words stay in its order

// A number, or one of the strings that stand for what JSON has not.
double number_of(const Json& j) {
  if (j.is_number()) return j.get<double>();
  const std::string& text = j.get_ref<const std::string&>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw BadInput(fmt::format("'{}' is not a number", text.substr(0, 40)));
}

std::optional<double> optional_number(const Json& j, const char* key) {
  const auto at = j.find(key);
  if (at == j.end() || at->is_null()) return std::nullopt;
  return number_of(*at);
}

double positive(const Json& j, const char* key) {
  const double v = number_of(j.at(key));
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

// -1 where there is none: a field that a build or a tool did not give.
double figure(const Json& j, const char* key) { return optional_number(j, key).value_or(-1); }

std::optional<SuitePlace> suite_of(const Json& record) {
  const auto at = record.find("suite");
  if (at == record.end()) return std::nullopt;
  const Json& j = *at;
  SuitePlace s{.name = j.at("name"), .table = j.value("table", ""), .label = j.value("label", ""), .reported = {}};
  if (const auto reported = j.find("reported"); reported != j.end() && reported->is_object())
    for (const auto& [key, said] : reported->items())
      if (!said.is_null()) s.reported.emplace_back(key, said.is_string() ? said.get<std::string>() : said.dump());
  return s;
}

FunctionResources function_resources(const Json& j) {
  return {.function = j.at("function"),
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
  s.p5 = number_of(t.at("p5")), s.p95 = number_of(t.at("p95"));
  s.min = number_of(t.at("min")), s.max = number_of(t.at("max"));
  s.mean = t.value("mean", 0.0), s.std = t.value("std", 0.0);
  s.p99 = optional_number(t, "p99");
  s.n = t.at("samples");
  return s;
}

Clusters samples_in(const Json& j) {
  Clusters samples;
  if (const auto kept = j.find("samples_us"); kept != j.end())
    for (const Json& process : *kept) {
      samples.push_back(process.get<std::vector<double>>());
      for (const double us : samples.back())
        if (!(us > 0 && std::isfinite(us))) throw BadInput(fmt::format("a sample is {} us", us));
    }
  return samples;
}

// Of a time.  What rested before each launch is another row: no comparison sets it beside what did not.
std::string timed_shape(const Json& j) {
  const std::string shape = j.at("shape");
  const double rest_s = j.value("rest_s", 0.0);
  return rest_s > 0 ? fmt::format("{} (after {} s of rest)", shape, rest_s) : shape;
}

Timing timing_in(const Json& j) {
  Timing t{.op = j.at("op"),
           .kernel = j.at("kernel"),
           .dtype = j.at("dtype"),
           .shape = timed_shape(j),
           .what = j.at("what"),
           .source = j.at("source"),
           .time_us = {},
           .samples = samples_in(j),
           .left_out = j.value("left_out", "")};
  if (j.contains("left_out") == j.contains("time_us")) throw BadInput("a timing has either 'time_us' or 'left_out'");
  if (j.contains("time_us")) t.time_us = summary_in(j["time_us"]);
  else if (t.left_out.empty()) throw BadInput("'left_out' gives no reason");
  return t;
}

ProfileRow profile_row(const Json& j) {
  ProfileRow r{.op = j.at("op"),
               .kernel = j.at("kernel"),
               .dtype = j.at("dtype"),
               .shape = j.at("shape"),
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
    for (const auto& [reason, share] : stalls->items()) r.stalls.emplace_back(reason, number_of(share));
  std::stable_sort(r.stalls.begin(), r.stalls.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return r;
}

TimedRow timed_row(const Json& j) {
  TimedRow r;
  r.op = j.at("op"), r.kernel = j.at("kernel"), r.dtype = j.at("dtype"), r.shape = timed_shape(j);
  r.time_us = summary_in(j.at("time_us")), r.samples = samples_in(j);
  if (const auto steady = j.find("steady_us"); steady != j.end()) r.steady_us = positive(*steady, "median");
  r.score = optional_number(j, "score");
  r.flops = number_of(j.at("flops"));
  r.bytes = number_of(j.at("bytes").at("formula")), r.unfused_bytes = number_of(j.at("bytes").at("unfused_formula"));
  r.copy_rate = number_of(j.at("copy_rate_bytes_per_s"));
  r.matrix_rate = optional_number(j, "matrix_rate_flops_per_s").value_or(0);
  r.limit = j.value("limit", "copy");
  r.share_of_limit = j.contains("share_of_limit") ? number_of(j["share_of_limit"]) : number_of(j.at("share_of_copy"));
  if (const auto all = j.find("speedups"); all != j.end())
    for (const auto& [baseline, ratio] : all->items()) r.speedups[baseline] = number_of(ratio);
  else if (const auto ratio = optional_number(j, "speedup")) r.speedups[j.at("baseline")] = *ratio;
  if (const auto all = j.find("speedup_intervals"); all != j.end())
    for (const auto& [baseline, ends] : all->items()) r.intervals[baseline] = {number_of(ends.at(0)), number_of(ends.at(1))};
  r.margin = number_of(j.at("margin_after_timing"));
  if (const auto memory = j.find("device_bytes"); memory != j.end()) r.peak_bytes = number_of(memory->at("peak"));
  r.planted = j.value("planted", 0.0);
  r.code = j.value("code", "");
  if (const auto machine = j.find("machine"); machine != j.end()) r.machine = machine_of(*machine);
  r.suite = suite_of(j);
  if (const auto step = j.find("step"); step != j.end()) r.step = step->get<int>();
  if (const auto dram = j.find("dram"); dram != j.end())
    r.dram = DramBytes{number_of(dram->at("read_bytes")), number_of(dram->at("written_bytes"))};
  if (const auto functions = j.find("resources"); functions != j.end())
    for (const Json& f : *functions) r.resources.push_back(function_resources(f));
  return r;
}

JudgedCase judged_case(const Json& j) {
  JudgedCase c{.op = j.at("op"),
               .kernel = j.at("kernel"),
               .dtype = j.at("dtype"),
               .verdict = j.at("verdict"),
               .reason = j.value("reason", ""),
               .pattern = j.value("pattern", ""),
               .repro = j.at("repro"),
               .source = j.value("source", ""),
               .margin = optional_number(j, "margin"),
               .max_abs_error = optional_number(j, "max_abs_error"),
               .deterministic = {}};
  if (const auto at = j.find("deterministic"); at != j.end()) c.deterministic = at->get<bool>();
  return c;
}

constexpr double kSectorBytes = 32;

CountedTraffic counted_traffic(const Json& j) {
  CountedTraffic t{.op = j.at("op"), .kernel = j.at("kernel"), .dtype = j.at("dtype"), .repro = j.at("repro")};
  const Json& bytes = j.at("bytes");
  t.formula = number_of(bytes.at("formula")), t.unfused_formula = number_of(bytes.at("unfused_formula"));
  if (const auto counted = bytes.find("counted"); counted != bytes.end())
    for (const auto& [tensor, c] : counted->items()) {
      t.unique += number_of(c.at("unique_read_bytes")) + number_of(c.at("unique_written_bytes"));
      t.requested += number_of(c.at("read_bytes")) + number_of(c.at("written_bytes"));
      t.sectors +=
          kSectorBytes * (optional_number(c, "read_sectors").value_or(0) + optional_number(c, "written_sectors").value_or(0));
    }
  return t;
}

void read_head(const Json& j, RecordFile& f) {
  if (const int schema = j.at("schema"); schema != kSchemaVersion)
    throw BadInput(fmt::format("it has schema {}, this program reads schema {}", schema, kSchemaVersion));
  f.version = j.at("version"), f.commit = j.at("commit"), f.compiler = j.at("compiler"), f.build = j.at("build");
  f.backend = j.at("backend"), f.device = j.at("device"), f.host = j.at("host"), f.date = j.at("date");
  f.suite = j.at("suite"), f.driver = j.value("driver", "");
  f.libraries = j.value("libraries", std::map<std::string, std::string>{});
  if (const auto accepted = j.find("accepted"); accepted != j.end()) f.accepted = accepted->at("reason");
}

}  // namespace

RecordFile read_records(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw BadInput(fmt::format("cannot read '{}'", path));
  RecordFile f;
  f.path = path;
  for (std::string line; std::getline(in, line);) {
    try {
      const Json j = Json::parse(line);
      const std::string kind = j.at("record");
      if (f.lines.empty() != (kind == "run"))
        throw BadInput(f.lines.empty() ? "a file of records begins with a run" : "a second run begins here");
      if (kind == "run") read_head(j, f);
      else if (kind == "bench") f.rows.push_back(timed_row(j));
      else if (kind == "case") f.cases.push_back(judged_case(j));
      else if (kind == "traffic") f.traffic.push_back(counted_traffic(j));
      else if (kind == "timing") f.timings.push_back(timing_in(j));
      else if (kind == "profile") f.profiles.push_back(profile_row(j));
      else if (kind == "left_out")
        f.left_out.push_back({j.at("op"), j.at("kernel"), j.at("dtype"), j.at("shape"), j.at("reason"), suite_of(j)});
    } catch (const Json::exception& e) {
      throw BadInput(fmt::format("'{}' line {} is not a record: {}", path, f.lines.size() + 1, e.what()));
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("'{}' line {}: {}", path, f.lines.size() + 1, e.what()));
    }
    f.lines.push_back(line);
  }
  if (in.bad() || f.lines.empty()) throw BadInput(fmt::format("'{}' holds no records", path));
  return f;
}

}  // namespace assay
