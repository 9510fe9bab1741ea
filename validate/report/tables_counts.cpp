// SPDX-License-Identifier: Apache-2.0
// Makes the report's tables of traffic, resources, profiles, models and runs.
#include <fmt/format.h>

#include <algorithm>

#include "validate/report/tables.hpp"

namespace assay {

namespace {

std::string whole(std::optional<double> v) { return v ? fmt::format("{:.0f}", *v) : ""; }

// Our bytes, with the unfused kernel's and the share saved in small print.
Cell beside(std::optional<double> ours, std::optional<double> unfused) {
  if (!ours) return {};
  Cell cell{megabytes(*ours)};
  if (!unfused || !(*unfused > 0)) return cell;
  const double share = 1 - *ours / *unfused;
  cell.notes.push_back(fmt::format("unfused {}, {} {}", megabytes(*unfused), share_text(share < 0 ? -share : share, 1),
                                   share < 0 ? "more" : "saved"));
  return cell;
}

std::string state_of(const RecordFile& f) {
  MachineState all;
  std::map<std::string, int> reasons;
  // Note: an empty optional is less than any number.
  for (const TimedRow& r : f.rows) {
    if (!r.machine) continue;
    const MachineState& m = *r.machine;
    if (m.sm_mhz_min) all.sm_mhz_min = std::min(*m.sm_mhz_min, all.sm_mhz_min.value_or(*m.sm_mhz_min));
    all.sm_mhz_max = std::max(all.sm_mhz_max, m.sm_mhz_max);
    all.power_w_max = std::max(all.power_w_max, m.power_w_max);
    all.temperature_c_max = std::max(all.temperature_c_max, m.temperature_c_max);
    for (const std::string& reason : m.throttle) ++reasons[reason];
  }
  if (!all.sm_mhz_max) return f.rows.empty() ? "" : "clocks and power were not recorded";
  std::string text = fmt::format("SM {:.0f} to {:.0f} MHz", all.sm_mhz_min.value_or(*all.sm_mhz_max), *all.sm_mhz_max);
  if (all.power_w_max || all.temperature_c_max) {
    text += all.power_w_max ? fmt::format(", {:.0f} W", *all.power_w_max) : ",";
    if (all.temperature_c_max) text += fmt::format("{} {:.0f} °C", all.power_w_max ? " and" : "", *all.temperature_c_max);
    text += " at most";
  }
  for (const auto& [reason, count] : reasons) text += fmt::format(", {} in {} rows", reason, count);
  return text + (reasons.empty() ? ", not throttled" : "");
}

}  // namespace

Section traffic_section(const Report& report) {
  Section s{"traffic",
            "Traffic",
            "MB per launch: by the contract's formula, as the simulated machine counts them, and by the device's counters.",
            {}};
  Table t{"",
          {{"op"},
           {"kernel"},
           {"dtype"},
           {"shape"},
           {"formula", true},
           {"simt, each byte once", true},
           {"simt, requested", true},
           {"simt, in sectors", true},
           {"DRAM read", true},
           {"DRAM written", true},
           {"DRAM", true},
           {"run"}},
          {}};
  for (const TrafficRow& r : report.traffic) {
    const auto counted = [&](std::optional<double> CountedTraffic::*part) {
      const auto of = [&](const CountedTraffic* c) { return c ? c->*part : std::nullopt; };
      return beside(of(r.counted), of(r.unfused_counted));
    };
    const auto dram = [&](auto part) {
      const auto of = [&](const std::optional<DramBytes>& d) { return d ? std::optional<double>(part(*d)) : std::nullopt; };
      return beside(of(r.dram), of(r.unfused_dram));
    };
    t.rows.push_back({r.op,
                      {{r.op},
                       {r.kernel},
                       {r.dtype},
                       {r.shape},
                       beside(r.formula, r.unfused_formula),
                       counted(&CountedTraffic::unique),
                       counted(&CountedTraffic::requested),
                       counted(&CountedTraffic::sectors),
                       dram([](const DramBytes& d) { return d.read; }),
                       dram([](const DramBytes& d) { return d.written; }),
                       dram([](const DramBytes& d) { return d.sum(); }),
                       {run_name(report, r.file)}}});
  }
  s.tables.push_back(std::move(t));
  return s;
}

Section resources_section(const Report& report) {
  Section s{"resources", "Resources", "What each function needs per launch. Shapes with equal needs share a line.", {}};
  Table t{"",
          {{"op"},
           {"kernel"},
           {"dtype"},
           {"function"},
           {"registers", true},
           {"static shared B", true},
           {"dynamic shared B", true},
           {"local B per thread", true},
           {"threads", true},
           {"blocks", true},
           {"blocks per SM", true},
           {"occupancy", true},
           {"shapes", true},
           {"run"}},
          {}};
  for (const ResourceRow& r : report.resources) {
    const FunctionResources& f = r.needs;
    t.rows.push_back({r.op,
                      {{r.op},
                       {r.kernel},
                       {r.dtype},
                       {f.function},
                       {whole(f.registers)},
                       {whole(f.static_shared)},
                       {whole(f.dynamic_shared)},
                       {whole(f.local_bytes), {}, f.local_bytes.value_or(0) > 0},
                       {whole(f.threads)},
                       {f.blocks == r.most_blocks ? whole(f.blocks) : whole(f.blocks) + "–" + whole(r.most_blocks)},
                       {whole(f.blocks_per_sm)},
                       {share_text(f.occupancy)},
                       {fmt::format("{}", r.shapes)},
                       {run_name(report, r.file)}}});
  }
  s.tables.push_back(std::move(t));
  return s;
}

Section profiles_section(const Report& report) {
  Section s{"profiles", "Profiles", "Each function as Nsight Compute measured it. Shares are of the device's peak.", {}};
  Table t{"",
          {{"op"},
           {"kernel"},
           {"dtype"},
           {"shape"},
           {"function"},
           {"µs", true},
           {"occupancy", true},
           {"achieved", true},
           {"memory", true},
           {"compute", true},
           {"DRAM", true},
           {"read MB", true},
           {"written MB", true},
           {"largest stalls"},
           {"run"}},
          {}};
  for (const auto& [file, p] : report.profiles) {
    std::string stalls;
    for (std::size_t i = 0; i < std::min<std::size_t>(p->stalls.size(), 3); ++i)
      stalls += fmt::format("{}{} {:.0f} %", i ? ", " : "", p->stalls[i].first, 100 * p->stalls[i].second);
    t.rows.push_back({p->op,
                      {{p->op},
                       {p->kernel},
                       {p->dtype},
                       {p->shape},
                       {p->function},
                       {p->time_us ? figure_text(*p->time_us) : ""},
                       {share_text(p->occupancy_theoretical)},
                       {share_text(p->occupancy_achieved)},
                       {share_text(p->memory_share)},
                       {share_text(p->compute_share)},
                       {share_text(p->dram_share)},
                       {megabytes(p->dram_read_bytes)},
                       {megabytes(p->dram_written_bytes)},
                       {stalls},
                       {run_name(report, file)}}});
  }
  s.tables.push_back(std::move(t));
  return s;
}

Section models_section(const Report& report) {
  Section s{
      "models",
      "A step of decoding, kernel by kernel",
      "Each kind of launch of a step timed apart over all layers, the longest first. Floor: the share of its time in which a "
      "copy would move the bytes of its tensors. The last line is the step itself, and the floor of what it has to read.",
      {},
      true};
  for (const RecordFile& f : report.files)
    for (const DecodeTimes& d : f.models) {
      if (d.kinds.empty()) continue;
      std::vector<const DecodeTimes::Kind*> kinds;
      double all_us = 0;
      for (const DecodeTimes::Kind& k : d.kinds) {
        kinds.push_back(&k);
        all_us += k.us;
      }
      std::stable_sort(kinds.begin(), kinds.end(), [](const auto* a, const auto* b) { return a->us > b->us; });
      const std::string model = d.config.substr(d.config.rfind('/') + 1);
      Table t{fmt::format("{} in {}, {} sequence{}, after prompts of {} tokens ({})", model.substr(0, model.rfind(".json")),
                          d.dtype, d.batch, d.batch == 1 ? "" : "s", d.prompt, run_name(report, &f)),
              {{"kernel"}, {"output"}, {"launches", true}, {"µs", true}, {"of the step", true}, {"floor", true}},
              {}};
      for (const auto* k : kinds)
        t.rows.push_back({k->op,
                          {{k->op + "/" + k->kernel},
                           {k->name},
                           {fmt::format("{}", k->count)},
                           {figure_text(k->us)},
                           {share_text(k->us / all_us)},
                           {share_text(1e6 * k->bytes / d.copy_rate / k->us)}}});
      t.rows.push_back({"",
                        {{fmt::format("the whole step, {:.0f} tokens a second", d.tokens_s)},
                         {},
                         {},
                         {figure_text(1e6 * d.token_s)},
                         {},
                         {share_text(d.floor_share)}}});
      s.tables.push_back(std::move(t));
    }
  return s;
}

Section runs_section(const Report& report) {
  Section s{"runs", "The machine and the runs", "The files that this report was made from.", {}};
  Table t{"",
          {{"run"},
           {"file"},
           {"date"},
           {"commit"},
           {"device"},
           {"driver"},
           {"build"},
           {"libraries"},
           {"state"},
           {"rows", true},
           {"cases", true},
           {"times from elsewhere"},
           {"reason for accepting"}},
          {}};
  for (const RecordFile& f : report.files) {
    std::vector<std::string> libraries, elsewhere;
    for (const auto& [library, version] : f.libraries) libraries.push_back(library + " " + version);
    std::map<std::string, int> sources;
    for (const Timing& e : f.timings) ++sources[e.source];
    for (const auto& [source, count] : sources) elsewhere.push_back(fmt::format("{} of {}", count, source));
    t.rows.push_back({"",
                      {{run_name(report, &f)},
                       {f.path},
                       {f.date},
                       {f.commit},
                       {f.device + ", " + f.host},
                       {f.driver},
                       {f.compiler + ", " + f.build},
                       {fmt::format("{}", fmt::join(libraries, ", "))},
                       {state_of(f)},
                       {fmt::format("{}", f.rows.size())},
                       {fmt::format("{}", f.cases.size())},
                       {fmt::format("{}", fmt::join(elsewhere, ", "))},
                       {f.accepted}}});
  }
  s.tables.push_back(std::move(t));
  return s;
}

}  // namespace assay
