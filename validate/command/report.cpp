// SPDX-License-Identifier: Apache-2.0
#include "validate/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/command/commands.hpp"
#include "validate/records/output_file.hpp"

namespace assay {

int report_command(const ReportFlags& flags) {
  const auto ends = [&](std::string_view end) { return flags.output.ends_with(end); };
  if (!ends(".html") && !ends(".md") && !ends(".csv"))
    throw BadInput(fmt::format("'{}' must end in .html, .md or .csv, which is the format to write", flags.output));
  const Report report = report_of(flags.files);
  std::string text = ends(".html") ? to_html(report) : ends(".md") ? to_report_markdown(report) : to_csv(report);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();  // write_whole() appends one
  write_whole(flags.output, text);
  const auto counted = [](std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  fmt::print("{}\n{}: {} kB, {}, {} judged\n", report.line, plain(flags.output), (text.size() + 999) / 1000,
             counted(report.rows.size(), "row"), counted(report.kernels.size(), "kernel"));
  const bool incomplete =
      std::any_of(report.files.begin(), report.files.end(), [](const auto& f) { return !f.incomplete.empty(); });
  return exit_code(kAllPassed, incomplete, flags.partial);
}

}  // namespace assay
