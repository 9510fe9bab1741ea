// SPDX-License-Identifier: Apache-2.0
// The data of the page's sections that are no plain list of rows.  What was not recorded is null, and a dash on the page.
#include "validate/report/json.hpp"

namespace assay {

namespace {

using Json = ReportJson;

Json positive_or_null(double v, int digits = 6) { return v > 0 ? report_number(v, digits) : Json(nullptr); }
Json known_or_null(double v) { return v < 0 ? Json(nullptr) : report_number(v); }
Json dram_of(const TimedRow* r) { return r && r->dram ? Json(r->dram->sum()) : Json(nullptr); }

template <class T>
Json problem(const Report& report, const RecordFile* file, const T& of) {
  return {{"op", of.op}, {"kernel", of.kernel}, {"dtype", of.dtype}, {"run", run_of(report, file)}};
}

Json json_of(const Contender& c) {
  Json j{{"kernel", c.kernel}, {"us", positive_or_null(c.us)}, {"ratio", positive_or_null(c.ratio, 4)}};
  if (c.interval) j["interval"] = {report_number(c.interval->low, 4), report_number(c.interval->high, 4)};
  if (c.elsewhere) j["elsewhere"] = true;
  if (c.beyond) j["beyond"] = true;
  if (!c.why.empty()) j["why"] = c.why;
  return j;
}

Json json_of(const Report& report, const SuiteLine& l) {
  Json j{{"op", l.op},
         {"kernel", l.ours ? Json(l.ours->kernel) : Json(nullptr)},
         {"dtype", l.dtype},
         {"run", run_of(report, l.file)}};
  j["shape"] = l.shape, j["label"] = l.place->label, j["reported"] = words(*l.place), j["beyond"] = l.claimed_beyond;
  for (std::size_t i = 0; i < kContenders.size(); ++i) {
    j[kContenders[i]] = Json::array();
    for (const Contender& c : l.contenders[i]) j[kContenders[i]].push_back(json_of(c));
  }
  j["us"] = l.ours ? report_number(l.ours->time_us.p50) : Json(nullptr);
  j["why"] = l.why;
  j["limit"] = positive_or_null(l.limit_us), j["most"] = positive_or_null(l.most, 4);
  j["launches"] = l.most > 0 && l.limit_us < kLaunchUs;
  const TimedRow* any = l.any();
  j["formula"] = any ? Json(any->bytes) : Json(nullptr), j["unfused_formula"] = any ? Json(any->unfused_bytes) : Json(nullptr);
  j["dram"] = dram_of(l.ours), j["unfused_dram"] = dram_of(l.unfused);
  return j;
}

Json json_of(const CountedTraffic* t) {
  return t ? Json{t->unique, t->requested, t->sectors > 0 ? Json(t->sectors) : Json(nullptr)} : Json(nullptr);
}
Json json_of(const std::optional<DramBytes>& d) { return d ? Json{d->read, d->written} : Json(nullptr); }

Json json_of(const Report& report, const TrafficRow& t) {
  Json j = problem(report, t.file, t);
  j["shape"] = t.shape, j["formula"] = t.formula, j["unfused"] = t.unfused_formula;
  j["counted"] = json_of(t.counted), j["unfused_counted"] = json_of(t.unfused_counted);
  j["dram"] = json_of(t.dram), j["unfused_dram"] = json_of(t.unfused_dram);
  return j;
}

Json json_of(const Report& report, const ResourceRow& r) {
  Json j = problem(report, r.file, r);
  const FunctionResources& f = r.needs;
  j["function"] = f.function, j["registers"] = known_or_null(f.registers), j["static"] = known_or_null(f.static_shared);
  j["dynamic"] = known_or_null(f.dynamic_shared), j["local"] = known_or_null(f.local_bytes);
  j["threads"] = known_or_null(f.threads), j["least"] = known_or_null(f.blocks), j["most"] = known_or_null(r.most_blocks);
  j["a_sm"] = known_or_null(f.blocks_per_sm), j["occupancy"] = known_or_null(f.occupancy), j["shapes"] = r.shapes;
  return j;
}

Json json_of(const Report& report, const RecordFile* file, const ProfileRow& p) {
  Json j = problem(report, file, p);
  j["shape"] = p.shape, j["function"] = p.function, j["us"] = known_or_null(p.time_us);
  j["theoretical"] = known_or_null(p.occupancy_theoretical);
  j["achieved"] = known_or_null(p.occupancy_achieved), j["memory"] = known_or_null(p.memory_share);
  j["compute"] = known_or_null(p.compute_share), j["dram"] = known_or_null(p.dram_share);
  j["read"] = known_or_null(p.dram_read_bytes), j["written"] = known_or_null(p.dram_written_bytes);
  std::string stalls;
  for (std::size_t i = 0; i < std::min<std::size_t>(p.stalls.size(), 3); ++i)
    stalls += fmt::format("{}{} {:.0f} %", i ? ", " : "", p.stalls[i].first, 100 * p.stalls[i].second);
  j["stalls"] = stalls;
  return j;
}

}  // namespace

ReportJson packed(const ReportJson& objects) {
  if (objects.empty()) return objects;
  Json keys = Json::array(), rows = Json::array();
  for (const auto& [key, value] : objects.front().items()) keys.push_back(key);
  for (const Json& o : objects) {
    Json values = Json::array();
    for (const auto& [key, value] : o.items()) values.push_back(value);
    rows.push_back(std::move(values));
  }
  return {{"keys", std::move(keys)}, {"rows", std::move(rows)}};
}

void add_sections(ReportJson& data, const Report& report) {
  for (const char* section : {"suites", "ablations", "traffic", "resources", "profiles"}) data[section] = Json::array();
  for (const RestatedTable& table : report.suites) {
    Json lines = Json::array();
    for (const SuiteLine& l : table.lines) lines.push_back(json_of(report, l));
    data["suites"].push_back({{"suite", table.suite}, {"title", table.title}, {"lines", packed(lines)}});
  }
  data["launch_us"] = kLaunchUs;
  for (const Ablation& a : report.ablations)
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
      const TimedRow& r = *a.steps[i];
      Json j = problem(report, a.file, r);
      j["shape"] = r.shape, j["step"] = *r.step, j["us"] = report_number(r.time_us.p50),
      j["gain"] = positive_or_null(a.gain(i), 4);
      j["share"] = report_number(r.share_of_limit, 4), j["limit"] = r.limit, j["wrong"] = !r.right();
      data["ablations"].push_back(j);
    }
  for (const TrafficRow& t : report.traffic) data["traffic"].push_back(json_of(report, t));
  for (const ResourceRow& r : report.resources) data["resources"].push_back(json_of(report, r));
  for (const auto& [file, p] : report.profiles) data["profiles"].push_back(json_of(report, file, *p));
  for (const char* section : {"ablations", "traffic", "resources", "profiles"}) data[section] = packed(data[section]);
}

}  // namespace assay
