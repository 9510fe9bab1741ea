// SPDX-License-Identifier: Apache-2.0
// Collects a report's traffic (bytes by formula, by simt and by hardware counters, fused and unfused), resources and profiles.
#include <algorithm>
#include <set>
#include <tuple>

#include "validate/report/report.hpp"

namespace assay {

namespace {

// op, dtype, shape, kernel: sorts the kernels of a problem together.
using Key = std::tuple<std::string, std::string, std::string, std::string>;

// The axes and attributes of "op/kernel dtype axes seed=n".
std::string shape_of(const std::string& repro) {
  std::size_t from = repro.find(' ');
  from = from == std::string::npos ? from : repro.find(' ', from + 1);
  if (from == std::string::npos) return "";
  std::string shape = repro.substr(from + 1);
  if (const std::size_t seed = shape.rfind(" seed="); seed != std::string::npos) shape.resize(seed);
  return shape;
}

TrafficRow& traffic_row(std::map<Key, TrafficRow>& rows, const RecordFile& f, const auto& r, const std::string& shape) {
  TrafficRow& row = rows[{r.op, r.dtype, shape, r.kernel}];
  row.file = &f;
  row.op = r.op;
  row.kernel = r.kernel;
  row.dtype = r.dtype;
  row.shape = shape;
  return row;
}

void add_traffic(Report& report) {
  std::map<Key, TrafficRow> all;
  for (const RecordFile& f : report.files) {
    std::map<Key, TrafficRow> here;
    for (const TimedRow& r : f.rows)
      if (r.dram) {
        TrafficRow& row = traffic_row(here, f, r, r.shape);
        row.formula = r.bytes;
        row.unfused_formula = r.unfused_bytes;
        row.dram = r.dram;
      }
    for (const CountedTraffic& t : f.traffic) {
      TrafficRow& row = traffic_row(here, f, t, shape_of(t.repro));
      row.formula = t.formula;
      row.unfused_formula = t.unfused_formula;
      row.counted = &t;
    }
    std::set<Key> unfused_beside;
    for (auto& [key, row] : here) {
      Key beside = key;
      std::get<3>(beside) = "unfused";
      if (const auto at = here.find(beside); at != here.end() && beside != key) {
        row.unfused_counted = at->second.counted;
        row.unfused_dram = at->second.dram;
        unfused_beside.insert(beside);
      }
    }
    for (auto& [key, row] : here)
      if (!unfused_beside.contains(key)) all[key] = std::move(row);
  }
  for (auto& [key, row] : all) report.traffic.push_back(std::move(row));
}

void add_resources(Report& report) {
  using Figure = std::optional<double>;
  using Needs = std::tuple<std::string, std::string, std::string, std::string, Figure, Figure, Figure, Figure, Figure, Figure>;
  std::map<Needs, ResourceRow> all;
  for (const ReportRow& row : report.rows)
    for (const FunctionResources& f : row.row->resources) {
      const TimedRow& r = *row.row;
      const Needs needs{r.op,          r.dtype,   r.kernel,       f.function, f.registers, f.static_shared, f.dynamic_shared,
                        f.local_bytes, f.threads, f.blocks_per_sm};
      const auto [at, is_new] = all.try_emplace(needs, ResourceRow{row.file, r.op, r.kernel, r.dtype, f, f.blocks, 0});
      ResourceRow& known = at->second;
      ++known.shapes;
      known.needs.blocks = std::min(known.needs.blocks, f.blocks);
      known.most_blocks = std::max(known.most_blocks, f.blocks);
    }
  for (auto& [needs, row] : all) report.resources.push_back(std::move(row));
}

void add_profiles(Report& report) {
  std::map<std::tuple<Key, std::string>, std::pair<const RecordFile*, const ProfileRow*>> latest;
  for (const RecordFile& f : report.files)
    for (const ProfileRow& p : f.profiles) latest[{{p.op, p.dtype, p.shape, p.kernel}, p.function}] = {&f, &p};
  for (const auto& [key, profile] : latest) report.profiles.push_back(profile);
}

}  // namespace

void add_counts(Report& report) {
  add_traffic(report);
  add_resources(report);
  add_profiles(report);
}

}  // namespace assay
