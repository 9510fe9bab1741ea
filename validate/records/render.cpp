// SPDX-License-Identifier: Apache-2.0
#include "validate/records/render.hpp"

#include <fmt/format.h>

#include <set>

#include "validate/base/input.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    switch (const char c = text[0]; c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (n == 0) out += "\xef\xbf\xbd";                          // U+FFFD for a byte that is not UTF-8
        else if (static_cast<unsigned char>(c) < 0x20) out += ' ';  // XML 1.0 allows no control characters
        else out += text.substr(0, n);
    }
    text.remove_prefix(n ? n : 1);
  }
  return out;
}

}  // namespace

std::string to_junit(const RunHead& h, const std::vector<Record>& records, const Tally& t) {
  std::map<std::string, std::vector<const Record*>> suites;
  for (const Record& r : records) suites[r.c.op + "." + r.kernel].push_back(&r);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay {}\" tests=\"{}\" failures=\"{}\" time=\"{:.3f}\">\n",
      escaped(h.backend), t.total, t.bad(), t.seconds);
  for (const auto& [suite, of] : suites) {
    std::int64_t bad = 0, skipped = 0;
    for (const Record* r : of) {
      bad += is_bad(r->verdict);
      skipped += r->verdict == Verdict::skipped || r->verdict == Verdict::unsupported;
    }
    xml += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" timestamp=\"{}\">\n", escaped(suite),
                       of.size(), bad, skipped, escaped(h.date));
    for (const Record* r : of) {
      xml += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"", escaped(suite), escaped(r->repro),
                         r->seconds);
      if (is_bad(r->verdict))
        xml += fmt::format(
            ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n", name(r->verdict), escaped(r->reason),
            escaped("validate replay " + r->loaded + (r->loaded.empty() ? "'" : " '") + r->repro + "'  " + r->pattern));
      else if (r->verdict != Verdict::passed)
        xml += fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n", name(r->verdict), escaped(r->reason));
      else xml += "/>\n";
    }
    xml += "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

std::string to_markdown(const RunHead& h, const std::vector<Record>& records, const Tally& t) {
  struct Row {
    std::int64_t cases = 0, bad = 0;
    double margin = 0;
  };
  std::map<std::string, Row> rows;
  std::vector<const Record*> worst;
  for (const Record& r : records) {
    if (r.verdict == Verdict::unsupported || r.verdict == Verdict::skipped) continue;
    Row& row = rows[fmt::format("| {} | {} | {} |", in_markdown(r.c.op), in_markdown(r.kernel), name(r.c.dtype))];
    ++row.cases;
    row.bad += is_bad(r.verdict);
    if (r.margin) row.margin = std::max(row.margin, *r.margin);
    if (is_bad(r.verdict) && worst.size() < 3) worst.push_back(&r);
  }
  std::string text = fmt::format("### Assay on {}: {}\n\n", in_markdown(h.device), t.sentence());
  for (const Record* r : worst)
    text += fmt::format("- **{}** `{}`: {}. {}\n", name(r->verdict), in_markdown_code(r->repro), in_markdown(r->reason),
                        in_markdown(r->pattern));
  text += "\n| op | kernel | dtype | cases | bad | worst err/bound |\n|---|---|---|---|---|---|\n";
  for (const auto& [key, row] : rows) text += fmt::format("{} {} | {} | {:.2f} |\n", key, row.cases, row.bad, row.margin);
  std::set<std::string> notes;
  for (const Record& r : records) {
    if (!r.not_checked.empty())
      notes.insert(fmt::format("Not checked{}: {}.",
                               r.loaded.empty() ? "" : fmt::format(" with `{}`", in_markdown_code(r.loaded)),
                               in_markdown(in_words(r.not_checked))));
    if (!r.fidelity.empty())
      notes.insert(
          fmt::format("{}/{} has the fidelity {}.", in_markdown(r.c.op), in_markdown(r.kernel), in_markdown(r.fidelity)));
    if (const std::string terms = held_to_text(r); !terms.empty())
      notes.insert(fmt::format("{}/{} is held to {}.", in_markdown(r.c.op), in_markdown(r.kernel), in_markdown(terms)));
  }
  for (const std::string& note : notes) text += "\n" + note + "\n";
  return text;
}

}  // namespace assay
