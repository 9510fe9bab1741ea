// SPDX-License-Identifier: Apache-2.0
#include "validate/console/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/console/console.hpp"

namespace assay {

void print_wrapped(const std::string& text) { fmt::print("  {}\n", wrapped(text, stdout_width())); }

void print_table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view align) {
  constexpr std::size_t kLeastLast = 8;
  std::vector<std::size_t> width;
  for (std::size_t k = 0; k < head.size(); ++k) {
    width.push_back(head[k].size());
    for (const TableRow& row : rows) width[k] = std::max(width[k], row[k].size());
  }
  std::size_t others = 0;  // all but the last column, each followed by two spaces
  for (std::size_t k = 0; k + 1 < head.size(); ++k) others += width[k] + 2;
  const std::size_t room = stdout_width() > others + kLeastLast ? stdout_width() - others : kLeastLast;
  const auto print = [&](const TableRow& row) {
    std::string line;
    for (std::size_t k = 0; k + 1 < row.size(); ++k)
      line += align[k] == 'r' ? fmt::format("{:>{}}  ", row[k], width[k]) : fmt::format("{:<{}}  ", row[k], width[k]);
    line += align.back() == 'r' ? fmt::format("{:>{}}", row.back(), width.back()) : cut(row.back(), room);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  };
  print(head);
  for (const TableRow& row : rows) print(row);
}

}  // namespace assay
