// SPDX-License-Identifier: Apache-2.0
// Records as other programs read them.
#pragma once

#include <string>
#include <vector>

#include "validate/records/record.hpp"

namespace assay {

// JUnit XML: a test suite per (op, kernel), a test case per record.
std::string to_junit(const RunHead&, const std::vector<Record>&, const Tally&);
// Markdown for a CI summary, the worst failures inline.
std::string to_markdown(const RunHead&, const std::vector<Record>&, const Tally&);
}  // namespace assay
