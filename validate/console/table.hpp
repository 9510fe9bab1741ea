// SPDX-License-Identifier: Apache-2.0
// A table on the terminal: a header, columns as wide as their cells, the last one cut where the line ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

using TableRow = std::vector<std::string>;

// `align`: a letter a column, l or r.
void print_table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view align);

}  // namespace assay
