// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "validate/base/error.hpp"
#include "validate/records/fields/reader.hpp"
#include "validate/records/fields/view_fields.hpp"
#include "validate/records/fields/view_times.hpp"
#include "validate/records/text_file.hpp"

namespace assay {

namespace {

using Json = RecordJson;

void require_positive(double v, const char* name) {
  if (!(v > 0 && std::isfinite(v))) throw BadInput(fmt::format("'{}' is {}, not a positive number", name, v));
}

void require_samples(const Clusters& samples) {
  for (const auto& process : samples)
    for (const double us : process)
      if (!(us > 0)) throw BadInput(fmt::format("a sample is {} us", us));
}

// A record, of whose numbers none is a margin or an element of a tensor.
template <class T>
T figures_of(const Json& j) {
  T t;
  read_fields(j, t, kMostFigure);
  return t;
}

Timing timing_in(const Json& j) {
  Timing t = figures_of<Timing>(j);
  require_samples(t.samples);
  if (j.contains("time_us")) require_positive(t.time_us.p50, "median");
  else if (t.left_out.empty()) throw BadInput("'left_out' gives no reason");
  return t;
}

ProfileRow profile_row(const Json& j) {
  ProfileRow r = figures_of<ProfileRow>(j);
  std::stable_sort(r.stalls.begin(), r.stalls.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return r;
}

TimedRow timed_row(const Json& j) {
  TimedRow r = figures_of<TimedRow>(j);
  require_positive(r.time_us.p50, "median");
  require_samples(r.samples);
  if (r.steady_us) require_positive(*r.steady_us, "median");
  r.margin = number_in(j, "margin_after_timing");
  return r;
}

JudgedCase judged_case(const Json& j, const RecordFile& f) {
  JudgedCase c;
  read_fields(j, c);
  if (const auto at = f.judges.find(c.op); at != f.judges.end()) c.judge = at->second;
  return c;
}

DecodeTimes decode_times(const Json& j) {
  DecodeTimes t = figures_of<DecodeTimes>(j);
  require_positive(t.token_s, "token_s");
  require_positive(t.tokens_s, "tokens_s");
  require_positive(t.copy_rate, "copy_rate");
  for (const DecodeTimes::Kind& k : t.kinds) require_positive(k.us, "us");
  return t;
}

void read_head(const Json& j, RecordFile& f) {
  const Json& schema = field_in(j, "schema");
  if (!schema.is_number_integer()) throw BadInput("the field 'schema' is not a whole number");
  if (const auto number = schema.get<std::int64_t>(); number != kSchemaVersion)
    throw BadInput(fmt::format("it has schema {}, this program reads schema {}", number, kSchemaVersion));
  read_fields(j, f);
}

// Why the cases of a file are not all that were asked for; `end`: its last record, none where there is none.
std::string why_incomplete(const RecordFile& f, const std::optional<RunEnd>& end) {
  if (!end) return "the file ends before its run did";
  if (end->interrupted) return "the run was interrupted";
  if (!end->missing.empty()) return fmt::format("missing: {}", fmt::join(end->missing, ", "));
  if (end->incomplete) return fmt::format("{} cases were not judged", end->incomplete);
  const std::int64_t planned = f.planned.value_or(0), there = static_cast<std::int64_t>(f.cases.size());
  return there < planned ? fmt::format("{} of {} cases are missing", planned - there, planned) : "";
}

}  // namespace

RecordFile records_in(const std::string& text, const std::string& path) {
  RecordFile f;
  f.path = path;
  std::optional<RunEnd> end;
  each_record(text, path, [&](const std::string& line, const Json& j) {
    const std::string kind = j.value("record", "");
    if (f.lines.empty() != (kind == "run"))
      throw BadInput(f.lines.empty() ? "a file of records begins with a run, which this line is not"
                                     : "a second run begins here");
    if (kind == "run") read_head(j, f);
    else if (kind == "bench") f.rows.push_back(timed_row(j));
    else if (kind == "case") f.cases.push_back(judged_case(j, f));
    else if (kind == "shrunk") f.shrunk.push_back(figures_of<ShrunkCase>(j));
    else if (kind == "power") f.faults.push_back(figures_of<PlantedFault>(j));
    else if (kind == "traffic") f.traffic.push_back(figures_of<CountedTraffic>(j));
    else if (kind == "timing") f.timings.push_back(timing_in(j));
    else if (kind == "model") f.models.push_back(decode_times(j));
    else if (kind == "profile") f.profiles.push_back(profile_row(j));
    else if (kind == "left_out") f.left_out.push_back(figures_of<LeftOut>(j));
    else if (kind == "end") end = figures_of<RunEnd>(j);
    f.lines.push_back(line);
  });
  if (f.lines.empty()) throw BadInput(fmt::format("'{}' holds no records", path));
  if (!f.cases.empty() || f.planned.value_or(0) > 0) f.incomplete = why_incomplete(f, end);
  return f;
}

RecordFile read_records(const std::string& path) { return records_in(read_text_file(path), path); }

}  // namespace assay
