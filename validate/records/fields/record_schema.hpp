// SPDX-License-Identifier: Apache-2.0
// Records against their schema, which reports/schema.json has too, by the part of JSON Schema 2020-12 that it uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay {

const nlohmann::json& record_schema();

// kinds: of each field that the schema has, what it is: also of one that no reader uses.  all: the whole schema too, so which
// fields there must be and may be, and how their texts are formed.
enum class Demand { kinds, all };
// How a record violates the schema, as a clause that names the field; empty: it does not.  By `kinds` null counts as missing.
std::string violation(const nlohmann::ordered_json& record, Demand);

}  // namespace assay
