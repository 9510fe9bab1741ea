// SPDX-License-Identifier: Apache-2.0
// The whole of reports/schema.json, which the program itself asks of no record that it reads.
#pragma once

#include <string>

#include "validate/records/fields/record_schema.hpp"

namespace assay::test {

using Json = nlohmann::json;

inline std::string violation(const std::string& line) {
  return assay::violation(nlohmann::ordered_json::parse(line), Demand::all);
}

}  // namespace assay::test
