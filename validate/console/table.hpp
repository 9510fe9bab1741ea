// SPDX-License-Identifier: Apache-2.0
// Prints text within the terminal's width (80 columns in a file): lines broken at spaces; tables with a header line and columns
// as wide as their widest cells, the last column cut at the end of the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

using TableRow = std::vector<std::string>;

// Prints one indented line, broken at spaces.
void print_wrapped(const std::string& text);

// `align`: one letter per column, l or r.
void print_table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view align);

}  // namespace assay
