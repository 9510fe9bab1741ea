// SPDX-License-Identifier: Apache-2.0
// A report as one page that asks nothing of a network: reports/templates/report.html with the data and Chart.js inlined.
#include <string_view>

#include "validate/report/json.hpp"

// The files themselves, so that one program can be carried.  A build without Chart.js has an empty one.
#define ASSAY_EMBED(name, path)                                                                                         \
  __asm__(".pushsection .rodata\n.global assay_" #name "\nassay_" #name ":\n.incbin \"" path "\"\n.global assay_" #name \
          "_end\nassay_" #name "_end:\n.byte 0\n.popsection\n");                                                        \
  extern "C" const char assay_##name[], assay_##name##_end[]
ASSAY_EMBED(report_template, ASSAY_REPORT_TEMPLATE);
ASSAY_EMBED(chart_js, ASSAY_CHART_JS);

namespace assay {

namespace {

using Json = ReportJson;
constexpr std::size_t kFailures = 200;

Json number(double v, int digits = 6) { return report_number(v, digits); }

std::string state_of(const RecordFile& f) {
  double least = 0, most = 0, power = 0, celsius = 0;
  std::map<std::string, int> reasons;
  for (const TimedRow& r : f.rows) {
    if (!r.machine) continue;
    least = least > 0 ? std::min(least, r.machine->sm_mhz_min) : r.machine->sm_mhz_min;
    most = std::max(most, r.machine->sm_mhz_max), power = std::max(power, r.machine->power_w_max);
    celsius = std::max(celsius, r.machine->temperature_c_max);
    for (const std::string& reason : r.machine->throttle) ++reasons[reason];
  }
  if (most == 0) return f.rows.empty() ? "" : "clocks and power were not recorded";
  std::string text = fmt::format("SM {:.0f} to {:.0f} MHz, {:.0f} W and {:.0f} °C at most", least, most, power, celsius);
  for (const auto& [reason, count] : reasons) text += fmt::format(", {} in {} rows", reason, count);
  return text + (reasons.empty() ? ", not throttled" : "");
}

Json json_of(const Report& report, const ReportRow& row) {
  const TimedRow& r = *row.row;
  Json speedups = Json::object(), intervals = Json::object(), history = Json::array();
  for (const auto& [baseline, ratio] : r.speedups) speedups[baseline] = number(ratio, 4);
  for (const auto& [baseline, i] : r.intervals) intervals[baseline] = {number(i.low, 4), number(i.high, 4)};
  if (row.history.size() > 1)
    for (const auto& [date, us] : row.history) history.push_back({date, number(us)});
  const bool hashes = row.before && !row.before->code.empty() && !r.code.empty();
  return {{"op", r.op},
          {"kernel", r.kernel},
          {"dtype", r.dtype},
          {"shape", r.shape},
          {"margin", number(r.margin, 4)},
          {"us", number(r.time_us.p50)},
          {"steady", r.steady_us ? number(*r.steady_us) : Json(nullptr)},
          {"gbs", number(1e-3 * r.bytes / r.time_us.p50)},
          {"tflops", number(1e-6 * r.flops / r.time_us.p50)},
          {"share", number(r.share_of_limit, 4)},
          {"limit", r.limit},
          {"speedups", speedups},
          {"intervals", intervals},
          {"score", r.score ? number(*r.score, 4) : Json(nullptr)},
          {"mib", r.peak_bytes > 0 ? number(r.peak_bytes / (1 << 20), 4) : Json(nullptr)},
          {"same", hashes ? Json(row.before->code == r.code) : Json(nullptr)},
          {"flops", number(r.flops)},
          {"bytes", number(r.bytes)},
          {"unfused", number(r.unfused_bytes)},
          {"dram", r.dram ? Json(r.dram->sum()) : Json(nullptr)},
          {"history", history},
          {"run", run_of(report, row.file)}};
}

Json data_of(const Report& report) {
  Json data{{"verdict", {{"ok", report.ok()}, {"line", report.line}}},
            {"runs", Json::array()},
            {"ops", Json::array()},
            {"rows", Json::array()},
            {"kernels", Json::array()},
            {"failures", Json::array()},
            {"failures_total", report.failures.size()},
            {"copy", 0},
            {"matrix", Json::object()}};
  data["margins"] = {{"labels", Json::array()}, {"ops", Json::object()}};
  for (const RecordFile& f : report.files) {
    std::string libraries;
    for (const auto& [library, version] : f.libraries)
      libraries += fmt::format("{}{} {}", libraries.empty() ? "" : ", ", library, version);
    std::map<std::string, int> sources;
    for (const Timing& e : f.timings) ++sources[e.source];
    std::string elsewhere;
    for (const auto& [source, count] : sources)
      elsewhere += fmt::format("{}{} of {}", elsewhere.empty() ? "" : ", ", count, source);
    data["runs"].push_back({{"file", f.path},
                            {"date", f.date},
                            {"commit", f.commit},
                            {"device", f.device + ", " + f.host},
                            {"driver", f.driver},
                            {"build", f.compiler + ", " + f.build},
                            {"libraries", libraries},
                            {"state", state_of(f)},
                            {"rows", f.rows.size()},
                            {"cases", f.cases.size()},
                            {"elsewhere", elsewhere},
                            {"accepted", f.accepted}});
  }
  for (const ReportRow& row : report.rows) {
    if (data["ops"].empty() || data["ops"].back() != row.row->op) data["ops"].push_back(row.row->op);
    data["copy"] = number(row.row->copy_rate);
    if (row.row->matrix_rate > 0) data["matrix"][row.row->dtype] = number(row.row->matrix_rate);
    data["rows"].push_back(json_of(report, row));
  }
  for (const ReportKernel& k : report.kernels)
    data["kernels"].push_back({{"op", k.op},
                               {"kernel", k.kernel},
                               {"dtype", k.dtype},
                               {"cases", k.cases},
                               {"passed", k.passed},
                               {"bad", k.bad},
                               {"unsupported", k.unsupported},
                               {"margin", k.margin < 0 ? Json(nullptr) : number(k.margin, 4)},
                               {"error", k.max_abs_error < 0 ? Json(nullptr) : number(k.max_abs_error, 3)},
                               {"again", k.again.empty() ? "" : "validate replay '" + k.again + "'"}});
  for (std::size_t i = 0; i < std::min(kFailures, report.failures.size()); ++i) {
    const ReportFailure& f = report.failures[i];
    data["failures"].push_back({{"verdict", f.verdict}, {"reason", f.reason}, {"pattern", f.pattern}, {"again", f.again}});
  }
  for (int i = 0; i < kMarginBins; ++i)
    data["margins"]["labels"].push_back(i + 1 < kMarginBins ? fmt::format("{:.1f}", 0.1 * i) : fmt::format("≥ {:.1f}", 0.1 * i));
  for (const auto& [op, bins] : report.margins) data["margins"]["ops"][op] = bins;
  for (const char* list : {"rows", "kernels"}) data[list] = packed(data[list]);
  add_sections(data, report);
  return data;
}

}  // namespace

std::string to_html(const Report& report) {
  std::string data = data_of(report).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : data) c == '<' ? safe += "\\u003c" : safe += c;  // no text of a record ends the script
  const std::string_view page(assay_report_template, static_cast<std::size_t>(assay_report_template_end - assay_report_template));
  const std::string_view chart(assay_chart_js, static_cast<std::size_t>(assay_chart_js_end - assay_chart_js));
  const std::size_t at_data = page.find("@DATA@"), at_chart = page.find("@CHART@");
  return fmt::format("{}{}{}{}{}", page.substr(0, at_data), safe, page.substr(at_data + 6, at_chart - at_data - 6), chart,
                     page.substr(at_chart + 7));
}

}  // namespace assay
