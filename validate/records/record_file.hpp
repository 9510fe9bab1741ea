// SPDX-License-Identifier: Apache-2.0
// A file of records, read back for `compare` and `report`.
#pragma once

#include <string>

#include "validate/records/recorded.hpp"

namespace assay {

// Throws BadInput, naming file and line, if the file cannot be read or is not a file of records.
RecordFile read_records(const std::string& path);
RecordFile records_in(const std::string& text, const std::string& path);  // `path` is for messages

}  // namespace assay
