// SPDX-License-Identifier: Apache-2.0
#include "validate/records/text_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/records/fields/record_schema.hpp"

namespace assay {

namespace {

// Whether a string of a JSON text may hold a control character: an escape, DEL or the first byte of those of Latin-1.
bool has_control(const std::string& json) { return json.find_first_of("\\\x7f\xc2") != std::string::npos; }

void make_plain(RecordJson& j) {
  if (j.is_string()) j = plain(j.get_ref<const std::string&>());
  if (j.is_array())
    for (RecordJson& one : j) make_plain(one);
  if (!j.is_object()) return;
  RecordJson all = RecordJson::object();
  for (auto& [key, value] : j.items()) {
    make_plain(value);
    all[plain(key)] = std::move(value);
  }
  j = std::move(all);
}

}  // namespace

std::string read_text_file(const std::string& path) {
  std::string why;
  if (auto text = read_file(path, why)) return std::move(*text);
  throw BadInput(fmt::format("cannot read '{}': {}", path, why));
}

void each_record(const std::string& text, const std::string& path,
                 const std::function<void(const std::string& line, const RecordJson& record)>& take) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    const auto none = [&](const char* why) {
      throw BadInput(fmt::format("'{}' line {} is not a record: {}", path, number, why));
    };
    if (nests_too_deeply(line)) none("its lists and objects lie too deep in each other");
    RecordJson j;
    try {
      j = RecordJson::parse(line);
    } catch (const RecordJson::out_of_range&) {
      none("a number of it is out of range");
    } catch (const RecordJson::exception&) {
      j = RecordJson(RecordJson::value_t::discarded);
    }
    if (has_control(line)) make_plain(j);
    if (j.is_discarded() && end == text.size() && line.starts_with('{')) none("the file was cut off in the middle of it");
    if (!j.is_object()) none("expected a JSON object on each line, as validate writes them with --json");
    try {
      take(line, j);
      if (const std::string why = violation(j, Demand::kinds); !why.empty()) throw BadInput(why);
    } catch (const RecordJson::exception&) {
      none("a field of it is missing or not of the kind that reports/schema.json gives it");
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("'{}' line {}: {}", path, number, e.what()));
    }
  }
}

const RecordJson& field_in(const RecordJson& record, const char* key) {
  if (!record.is_object()) throw BadInput(fmt::format("expected an object with '{}'", key));
  const auto at = record.find(key);
  if (at == record.end()) throw BadInput(fmt::format("the field '{}' is missing", key));
  return *at;
}

std::string text_in(const RecordJson& record, const char* key) {
  const RecordJson& j = field_in(record, key);
  if (!j.is_string()) throw BadInput(fmt::format("the field '{}' is not a text", key));
  return j.get<std::string>();
}

double number_in(const RecordJson& record, const char* key) { return number_of(field_in(record, key), key); }

double number_of(const RecordJson& j, const std::string& name) {
  if (j.is_number()) return j.get<double>();
  const std::string text = j.is_string() ? j.get<std::string>() : "";
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw BadInput(fmt::format("the field '{}' is not a number", name));
}

}  // namespace assay
