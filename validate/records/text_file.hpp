// SPDX-License-Identifier: Apache-2.0
// Files of records as text: plain or gzip, a JSON object a line.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace assay {

// The whole file, decompressed where it begins as gzip does.  Throws BadInput where it cannot be read or ends too soon.
std::string read_text_file(const std::string& path);

using RecordJson = nlohmann::ordered_json;  // keeps the order of keys

// Hands every line over, as it is and as an object.  Throws BadInput, which names the file and the line, where one is no object,
// and where `take` finds a field missing or of the wrong kind or throws BadInput itself.
void each_record(const std::string& text, const std::string& path,
                 const std::function<void(const std::string& line, const RecordJson& record)>& take);

// Fields that have to be there.  They throw BadInput, which names the field.
const RecordJson& field_in(const RecordJson& record, const char* key);
std::string text_in(const RecordJson& record, const char* key);
double number_in(const RecordJson& record, const char* key);
double number_of(const RecordJson& value, const std::string& name);  // also of the strings that stand for what JSON has not

}  // namespace assay
