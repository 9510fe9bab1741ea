// SPDX-License-Identifier: Apache-2.0
// Whether the fields that a record has are of the kinds that reports/schema.json gives them.
#pragma once

#include <nlohmann/json.hpp>

namespace assay {

// Throws BadInput, which names the field, if one is not: also one that this reader does not use.  What the schema does not have,
// as a newer version may have written it, may be anything; null counts as missing.
void check_kinds(const nlohmann::ordered_json& record);

}  // namespace assay
