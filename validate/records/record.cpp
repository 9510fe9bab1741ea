// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN or infinity, so they are written as strings.
Json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

// Note: the message of a dying worker may not be UTF-8; bad bytes are replaced, so that the record is not lost.
std::string text_of(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const Traffic& t) {
  Json j{{"read_bytes", t.read_bytes},
         {"written_bytes", t.written_bytes},
         {"unique_read_bytes", t.unique_read_bytes},
         {"unique_written_bytes", t.unique_written_bytes}};
  if (t.read_sectors || t.written_sectors) {
    j["read_sectors"] = t.read_sectors;
    j["written_sectors"] = t.written_sectors;
  }
  return j;
}

}  // namespace

void Record::caught(Tier t) {
  if (std::find(caught_by.begin(), caught_by.end(), t) == caught_by.end()) caught_by.push_back(t);
}

void Tally::add(const Record& r) {
  ++of[r.verdict];
  ++total;
  incomplete += r.incomplete;
  unwatchable += r.incomplete && r.verdict == Verdict::unsupported;
  if (r.verdict != Verdict::skipped && r.verdict != Verdict::unsupported && r.multi_tile_ragged) ++ragged;
}

void Tally::add(const Tally& more) {
  for (const auto& [verdict, count] : more.of) of[verdict] += count;
  total += more.total;
  ragged += more.ragged;
  incomplete += more.incomplete;
  unwatchable += more.unwatchable;
}

std::int64_t Tally::count(Verdict v) const {
  const auto at = of.find(v);
  return at == of.end() ? 0 : at->second;
}

std::int64_t Tally::bad() const {
  std::int64_t n = 0;
  for (const auto& [verdict, count] : of)
    if (is_bad(verdict)) n += count;
  return n;
}

std::string Tally::sentence() const {
  std::string text =
      fmt::format("{} passed · {} failed · {} suspect", count(Verdict::passed), count(Verdict::failed), count(Verdict::suspect));
  for (Verdict v : {Verdict::crashed, Verdict::timeout, Verdict::skipped})
    if (count(v)) text += fmt::format(" · {} {}", count(v), name(v));
  if (const std::int64_t declared = count(Verdict::unsupported) - unwatchable)
    text += fmt::format(" · {} unsupported as declared", declared);
  if (unwatchable) text += fmt::format(" · {} not watchable", unwatchable);
  if (interrupted) text += " · interrupted";
  return text + fmt::format(" · {:.1f} s", seconds);
}

std::string to_json(const RunHead& h) {
  Json j{{"record", "run"},        {"schema", kSchemaVersion}, {"version", h.version}, {"commit", h.commit},
         {"compiler", h.compiler}, {"build", h.build},         {"backend", h.backend}, {"device", h.device},
         {"host", h.host},         {"date", h.date},           {"suite", h.suite},     {"seed", h.seed}};
  if (!h.driver.empty()) j["driver"] = h.driver;
  if (!h.sandbox.empty()) j["sandbox"] = h.sandbox;
  if (!h.libraries.empty()) j["libraries"] = h.libraries;
  if (!h.judges.empty()) j["judges"] = h.judges;
  if (!h.suites.empty()) j["suites"] = h.suites;
  if (h.plan) {
    j["selection"] = h.plan->selection;
    if (!h.plan->shard.empty()) j["shard"] = h.plan->shard;
    j["cases"] = h.plan->cases;
    j["plan"] = fmt::format("{:016x}", h.plan->digest);
    j["kernels"] = h.plan->kernels;
  }
  return text_of(j);
}

std::string to_json(const Record& r) {
  Json j{{"record", "case"}, {"op", r.c.op}, {"kernel", r.kernel}, {"backend", r.backend}, {"dtype", name(r.c.dtype)}};
  if (!r.numerics.empty()) j["numerics"] = r.numerics;
  if (!r.held_to.empty()) j["held_to"] = r.held_to;
  if (!r.loaded.empty()) j["loaded"] = r.loaded;
  if (!r.given.empty()) j["given"] = r.given;
  if (!r.loaded.empty() || !r.not_checked.empty()) j["not_checked"] = r.not_checked;
  if (!r.code.empty()) j["code"] = r.code;
  if (!r.fidelity.empty()) j["fidelity"] = r.fidelity;
  j["axes"] = Json::object();
  for (std::size_t i = 0; i < kAxes.size(); ++i)
    if (r.c.dims.extent[i] || r.repro.find(" " + std::string(kAxes[i].name) + "=") != std::string::npos)
      j["axes"][kAxes[i].name] = r.c.dims.extent[i];
  j["attributes"] = Json::object();
  for (const auto& [key, value] : r.c.attributes) j["attributes"][key] = number(value);
  j["fill"] = r.c.fill;
  j["layout"] = r.c.layout;
  j["seed"] = r.c.seed;
  j["source"] = r.c.source;
  for (const Case::Reduction& cut : r.c.reduced)
    j["reduced"].push_back({{"axis", name(cut.axis)}, {"from", cut.from}, {"to", cut.to}});
  j["verdict"] = name(r.verdict);
  if (!r.reason.empty()) j["reason"] = r.reason;
  for (const Tier t : r.caught_by) j["caught_by"].push_back(name(t));
  for (const auto& [policy, passed] : r.policies) j["policies"][std::string(policy)] = passed;
  j["exact"] = r.exact;
  j["multi_tile_ragged"] = r.multi_tile_ragged;
  j["compared"] = r.compared;
  j["wrong"] = r.wrong;
  if (r.margin) {
    j["margin"] = number(*r.margin);
    j["max_abs_error"] = number(r.max_abs_error);
  }
  if (r.worst)
    j["worst"] = {{"tensor", r.worst->tensor},
                  {"index", r.worst->index},
                  {"got", number(r.worst->got)},
                  {"golden", number(r.worst->golden)},
                  {"bound", number(r.worst->bound)}};
  if (r.worst && !r.worst->tile.empty()) j["worst"]["tile"] = r.worst->tile;
  for (const auto& [output, margin] : r.stages) j["stages"][output] = number(margin);
  if (r.end_to_end) j["end_to_end"] = number(*r.end_to_end);
  if (!r.pattern.empty()) j["pattern"] = r.pattern;
  if (!r.reads_like.empty()) j["reads_like"] = r.reads_like;
  if (!r.would_pass.empty()) j["would_pass"] = r.would_pass;
  if (r.deterministic) j["deterministic"] = *r.deterministic;
  if (r.digest) j["digest"] = digest_text(r);
  if (!r.rows_checked.empty()) j["sampled"] = {{"rows", r.rows}, {"checked", r.rows_checked}};
  if (r.sweep_margin) j["sampled"]["sweep_margin"] = number(*r.sweep_margin);
  if (r.rms_ratio) j["rms_ratio"] = number(*r.rms_ratio);
  if (r.bias) j["bias"] = number(*r.bias);
  if (!r.relations.empty()) j["relations"] = r.relations;
  if (!r.faults.empty()) j["faults"] = r.faults;
  if (r.incomplete) j["incomplete"] = true;
  j["flops"] = r.cost.flops;
  j["bytes"] = {{"formula", r.cost.bytes()}, {"unfused_formula", r.cost.unfused_bytes}};
  if (!r.traffic.empty()) {
    Json counted = Json::object();
    for (const auto& [tensor, t] : r.traffic) counted[tensor] = json_of(t);
    j["bytes"]["counted"] = counted;
  }
  j["seconds"] = r.seconds;
  j["repro"] = r.repro;
  return text_of(j);
}

std::string to_json(const Tally& t) {
  Json verdicts = Json::object();
  for (Verdict v : {Verdict::passed, Verdict::failed, Verdict::crashed, Verdict::timeout, Verdict::skipped, Verdict::unsupported,
                    Verdict::suspect})
    verdicts[std::string(name(v))] = t.count(v);
  Json j{{"record", "end"},
         {"verdicts", verdicts},
         {"multi_tile_ragged", t.ragged},
         {"seconds", t.seconds},
         {"work_seconds",
          {{"workers", t.work.workers}, {"goldens", t.work.goldens}, {"judging", t.work.judging}, {"power", t.work.power}}},
         {"incomplete", t.incomplete},
         {"interrupted", t.interrupted}};
  if (!t.missing.empty()) j["missing"] = t.missing;
  return j.dump();
}

std::string held_to_text(const Record& r) {
  if (!r.held_to.empty()) return r.held_to;
  const bool built_in = r.loaded.empty() && r.backend != "files";
  return built_in || r.numerics.empty() ? "" : r.numerics + " (as declared)";
}

std::string digest_text(const Record& r) { return r.digest ? fmt::format("{:016x}", *r.digest) : std::string(); }

}  // namespace assay
