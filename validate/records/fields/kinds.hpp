// SPDX-License-Identifier: Apache-2.0
// The kinds of records, each with its fields.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace assay {

// The schema of every kind, which reports/schema.json has (`validate describe records`).
nlohmann::ordered_json schema_of_records();

}  // namespace assay
