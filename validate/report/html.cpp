// SPDX-License-Identifier: Apache-2.0
// Writes a report as one HTML page that loads nothing from a network, by filling in reports/templates/report.html.  Text and
// tables need no JavaScript; the charts' data and Chart.js are inlined.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "validate/report/charts.hpp"
#include "validate/report/tables.hpp"

// Embeds the files, so that the program can be copied alone to another machine.  Without Chart.js its file is empty.
#define ASSAY_EMBED(name, path)                                                                                         \
  __asm__(".pushsection .rodata\n.global assay_" #name "\nassay_" #name ":\n.incbin \"" path "\"\n.global assay_" #name \
          "_end\nassay_" #name "_end:\n.byte 0\n.popsection\n");                                                        \
  extern "C" const char assay_##name[], assay_##name##_end[]
ASSAY_EMBED(report_template, ASSAY_REPORT_TEMPLATE);
ASSAY_EMBED(chart_js, ASSAY_CHART_JS);

namespace assay {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

std::string meta_html(const Report& report) {
  std::vector<std::string> devices, commits;
  const auto once = [](std::vector<std::string>& all, const std::string& text) {
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  };
  for (const RecordFile& f : report.files) {
    once(devices, f.device);
    once(commits, f.commit);
  }
  const std::string first = report.files.front().date.substr(0, 10), last = report.files.back().date.substr(0, 10);
  return escaped(fmt::format("{} · {} · {} · {}", fmt::join(devices, ", "), first == last ? last : first + " to " + last,
                             commits.size() == 1 ? "commit " + commits[0] : fmt::format("{} commits", commits.size()),
                             report.files.size() == 1 ? report.files[0].path : fmt::format("{} files", report.files.size())));
}

std::string verdict_html(const Report& report) {
  std::string line = report.line;
  if (constexpr std::string_view kFailed = "FAILED · "; line.starts_with(kFailed)) line.erase(0, kFailed.size());
  const bool some = !report.kernels.empty() || !report.rows.empty();
  return fmt::format("<p class=\"verdict {}\" id=\"verdict\" role=\"status\"><b>{}</b> <span>{}</span></p>",
                     !report.ok() ? "bad"
                     : some       ? "good"
                                  : "",
                     !report.ok() ? "FAILED"
                     : some       ? "PASSED"
                                  : "EMPTY",
                     escaped(line));
}

std::string figures_html(const Report& report) {
  std::string html;
  for (const Figure& f : figures_of(report))
    html += fmt::format("<div class=\"figure{}\"><b>{}</b><span>{}</span><small>{}</small></div>\n", f.bad ? " bad" : "",
                        escaped(f.value), escaped(f.label), escaped(f.note));
  return html;
}

std::string failure_html(const ReportFailure& f) {
  std::string verdict = f.verdict;
  for (char& c : verdict) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string html = fmt::format("<article class=\"failure\"><h3><b>{}</b> {}</h3><p>{}</p>", escaped(verdict), escaped(f.what),
                                 escaped(f.reason));
  if (!f.facts.empty()) html += "<dl>";
  for (const auto& [name, text] : f.facts) html += fmt::format("<dt>{}<dd>{}", name, escaped(text));
  if (!f.facts.empty()) html += "</dl>";
  if (f.alike.empty()) return html + "</article>\n";
  html += fmt::format("<details><summary>{} more fail{} alike</summary><pre>", f.alike.size(), f.alike.size() == 1 ? "s" : "");
  for (const std::string& again : f.alike) html += escaped(again) + "\n";
  return html + "</pre></details></article>\n";
}

std::string failures_html(const Report& report) {
  constexpr std::size_t kShown = 4;
  if (report.ok()) return "";
  std::string html = fmt::format("<section id=\"failures\"><h2>Failures <small>{}, of {} {}</small></h2>\n", report.failed,
                                 report.failures.size(), report.failures.size() == 1 ? "kind" : "kinds");
  for (std::size_t i = 0; i < report.failures.size(); ++i) {
    if (i == kShown) html += fmt::format("<details class=\"more\"><summary>{} more</summary>\n", report.failures.size() - kShown);
    html += failure_html(report.failures[i]);
  }
  return html + (report.failures.size() > kShown ? "</details></section>\n" : "</section>\n");
}

// A ratio's place on a logarithmic bar from 1/8 to 8, in percent.
double place_of(double ratio) { return std::clamp(50 + 50 * std::log2(ratio) / 3, 0.0, 100.0); }

std::string ops_html(const Report& report) {
  const std::vector<OpStanding> ops = by_op(report);
  if (ops.empty()) return "";
  std::string html =
      "<section id=\"ops\"><h2>Against the best other, by op <small>its time over ours: right of the line ours is faster; bar: "
      "geometric mean over "
      "shapes, thin line: least to most</small></h2>\n<ul class=\"ops\">\n";
  for (const OpStanding& o : ops) {
    const double mean = place_of(o.mean), least = place_of(o.least), most = place_of(o.most);
    html += fmt::format(
        "<li class=\"{}\" title=\"least {}, most {}; the best other is most often {}\"><span>{}</span><i><u "
        "style=\"left:{:.1f}%;width:{:.1f}%\"></u>"
        "<s style=\"left:{:.1f}%;width:{:.1f}%\"></s></i><b>{}</b><small>faster on {} of {}</small></li>\n",
        o.mean < 1 ? "slower" : "faster", ratio_text(o.least), ratio_text(o.most), escaped(o.other), escaped(o.op),
        std::min(mean, 50.0), std::abs(mean - 50), least, most - least, ratio_text(o.mean), o.faster, o.shapes);
  }
  return html + "</ul></section>\n";
}

// Note: HTML allows leaving out the end tags of cells and rows, which saves a third of a page of many rows.
std::string table_html(const Table& t, const std::string& name) {
  std::string kinds, head;
  for (std::size_t i = 0; i < t.columns.size(); ++i) {
    if (t.columns[i].number) kinds += fmt::format(" n{}", i + 1);
    head += fmt::format("<th scope=\"col\">{}", escaped(t.columns[i].name));
  }
  std::string html = fmt::format(
      "<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"{}\"><thead><tr>{}<tbody>\n",
      escaped(name), kinds.empty() ? "" : kinds.substr(1), head);
  for (const Table::Row& r : t.rows) {
    html += r.op.empty() ? "<tr>" : fmt::format("<tr data-op=\"{}\">", escaped(r.op));
    for (const Cell& c : r.cells) {
      html += c.bad ? "<td class=\"bad\">" : "<td>";
      html += c.text.empty() ? "–" : escaped(c.text);
      for (const std::string& note : c.notes) html += "<small>" + escaped(note) + "</small>";
    }
    html += "\n";
  }
  return html + "</table></div>\n";
}

std::string folded(const std::string& title, std::size_t rows, const std::string& rest, const std::string& attributes = "") {
  return fmt::format("<details{}><summary>{} <output>{}</output></summary>\n{}</details>\n", attributes, escaped(title), rows,
                     rest);
}

std::string section_html(const Section& s) {
  std::size_t rows = 0;
  std::string tables = fmt::format("<p class=\"faint\">{}</p>\n", escaped(s.about));
  for (const Table& t : s.tables) {
    rows += t.rows.size();
    tables += t.title.empty() ? table_html(t, s.title) : folded(t.title, t.rows.size(), table_html(t, t.title));
  }
  return folded(s.title, rows, tables, fmt::format(" class=\"section\" id=\"{}\"", s.id));
}

}  // namespace

std::string to_html(const Report& report) {
  std::string sections, data;
  for (const Section& s : sections_of(report)) sections += section_html(s);
  for (const char c : charts_of(report).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
    c == '<' ? data += "\\u003c" : data += c;  // else a record's text could end the script element
  std::string_view page(assay_report_template, static_cast<std::size_t>(assay_report_template_end - assay_report_template));
  const std::string_view chart(assay_chart_js, static_cast<std::size_t>(assay_chart_js_end - assay_chart_js));
  const std::pair<std::string_view, std::string> parts[] = {{"@META@", meta_html(report)},
                                                            {"@VERDICT@", verdict_html(report)},
                                                            {"@FIGURES@", figures_html(report)},
                                                            {"@FAILURES@", failures_html(report)},
                                                            {"@OPS@", ops_html(report)},
                                                            {"@SECTIONS@", sections},
                                                            {"@DATA@", data},
                                                            {"@CHART@", std::string(chart)}};
  std::string html;
  for (const auto& [name, text] : parts) {  // `parts` are in the order of the page
    const std::size_t at = page.find(name);
    html.append(page.substr(0, at)).append(text);
    page.remove_prefix(at + name.size());
  }
  return html.append(page);
}

}  // namespace assay
