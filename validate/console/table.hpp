// SPDX-License-Identifier: Apache-2.0
// Prints tables: a header line, columns as wide as their widest cells, the last column cut at the end of the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

using TableRow = std::vector<std::string>;

// `align`: one letter per column, l or r.
void print_table(const TableRow& head, const std::vector<TableRow>& rows, std::string_view align);

}  // namespace assay
