// SPDX-License-Identifier: Apache-2.0
// The line of each record of a run, and what is read back of it.
#include "validate/records/fields/case_fields.hpp"
#include "validate/records/fields/line_fields.hpp"
#include "validate/records/fields/reader.hpp"
#include "validate/records/fields/run_fields.hpp"
#include "validate/records/fields/writer.hpp"

namespace assay {

std::string to_json(const RunHead& h) { return record_line("run", h); }
std::string to_json(const Record& r) { return record_line("case", r); }
std::string traffic_line(const Record& r) { return record_line("traffic", r); }
std::string to_json(const Tally& t) { return record_line("end", t); }
std::string to_json(const PowerLine& l) { return record_line("power", l); }
std::string to_json(const DeclaredLine& l) { return record_line("declared", l); }
std::string to_json(const SuggestedLine& l) { return record_line("suggested", l); }
std::string to_json(const Shrunk& s) { return record_line("shrunk", s); }

Record record_of(const RecordJson& j, const Case& c) {
  Record r;
  r.c = c;
  read_fields(j, r);
  return r;
}

Tally tally_of(const RecordJson& j) {
  Tally t;
  read_fields(j, t);
  return t;
}

}  // namespace assay
