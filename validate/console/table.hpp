// SPDX-License-Identifier: Apache-2.0
// What fits the terminal's width (80 columns in a file): a line broken at spaces; a table with a header, whose columns are as wide
// as their cells and whose last column is cut where the line ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

using TableRow = std::vector<std::string>;

void print_wrapped(const std::string& text);

// `align`: a letter a column, l or r.
void print_table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view align);

}  // namespace assay
