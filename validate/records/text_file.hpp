// SPDX-License-Identifier: Apache-2.0
// Reads files of records: plain or gzip, one JSON object per line.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace assay {

// The whole file, decompressed if it is gzip.  Throws BadInput if it cannot be read or is cut off or damaged.
std::string read_text_file(const std::string& path);

using RecordJson = nlohmann::ordered_json;  // keeps the order of keys

// Calls `take` with each line, as text and as an object.  Throws BadInput with file and line if a line is not an object, or if
// `take` throws BadInput or finds a field missing or of the wrong type.  The texts of `record` have no control characters.
void each_record(const std::string& text, const std::string& path,
                 const std::function<void(const std::string& line, const RecordJson& record)>& take);

// Required fields.  Throw BadInput, which names the field, if it is missing or of the wrong type.
const RecordJson& field_in(const RecordJson& record, const char* key);
std::string text_in(const RecordJson& record, const char* key);
double number_in(const RecordJson& record, const char* key);
double number_of(const RecordJson& value, const std::string& name);  // also of "nan", "inf" and "-inf"

}  // namespace assay
