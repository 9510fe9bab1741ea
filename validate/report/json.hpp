// SPDX-License-Identifier: Apache-2.0
// A report's data as its page takes them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "validate/report/report.hpp"

namespace assay {

using ReportJson = nlohmann::ordered_json;

inline ReportJson report_number(double v, int digits = 6) {
  if (!std::isfinite(v)) return "inf";
  return std::stod(fmt::format("{:.{}g}", v, digits));  // six digits are enough to look at
}

// A list of objects with the same keys, as the keys once and the values of each: a page of many rows stays small.
ReportJson packed(const ReportJson& objects);

// The documents' tables, ablations, traffic, resources and profiles.
void add_sections(ReportJson& data, const Report&);

// The place of a row's file among data["runs"].
inline std::ptrdiff_t run_of(const Report& report, const RecordFile* file) { return file - report.files.data(); }

}  // namespace assay
