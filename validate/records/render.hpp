// SPDX-License-Identifier: Apache-2.0
// Renders records in formats that CI systems read.
#pragma once

#include <string>
#include <vector>

#include "validate/records/record.hpp"

namespace assay {

// JUnit XML: a test suite per op and kernel, a test case per record.
std::string to_junit(const RunHead&, const std::vector<Record>&, const Tally&);
// Markdown for a CI summary, with the first three failures inline.
std::string to_markdown(const RunHead&, const std::vector<Record>&, const Tally&);
}  // namespace assay
