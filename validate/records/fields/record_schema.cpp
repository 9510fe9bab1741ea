// SPDX-License-Identifier: Apache-2.0
#include "validate/records/fields/record_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <stdexcept>
#include <string_view>

#include "validate/base/input.hpp"
#include "validate/records/fields/kinds.hpp"

namespace assay {

namespace {

using Json = nlohmann::json;
using RecordJson = nlohmann::ordered_json;

struct Type {
  std::string_view name, words;
  bool (*is)(const RecordJson&);
};
constexpr Type kTypes[] = {
    {"object", "an object", [](const RecordJson& v) { return v.is_object(); }},
    {"array", "a list", [](const RecordJson& v) { return v.is_array(); }},
    {"string", "a text", [](const RecordJson& v) { return v.is_string(); }},
    {"boolean", "true or false", [](const RecordJson& v) { return v.is_boolean(); }},
    {"null", "null", [](const RecordJson& v) { return v.is_null(); }},
    {"number", "a number", [](const RecordJson& v) { return v.is_number(); }},
    {"integer", "a whole number",
     [](const RecordJson& v) {
       return v.is_number_integer() || (v.is_number() && v.get<double>() == std::floor(v.get<double>()));
     }},
};
const Type& type_named(const Json& name) {
  const auto* const at = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const Type& t) { return t.name == name.get_ref<const std::string&>(); });
  if (at == std::end(kTypes)) throw std::logic_error("schema: unknown type " + name.dump());
  return *at;
}

std::string is_not(const std::string& path, const RecordJson& v, const std::string& expected) {
  const std::string value = v.dump(-1, ' ', false, RecordJson::error_handler_t::replace).substr(0, 60);
  return fmt::format("the field '{}' is {}, and {} was expected", plain(path), plain(value), expected);
}
std::string within(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

// What "#/$defs/NAME" means.
const Json& definition(std::string_view reference) {
  constexpr std::string_view kBeginning = "#/$defs/";
  static const Json& all = record_schema().at("$defs");
  if (!reference.starts_with(kBeginning)) throw std::logic_error("schema: a reference elsewhere");
  return all.at(std::string(reference.substr(kBeginning.size())));
}

// Note: an unknown keyword throws, so that the schema cannot demand more than is checked.
class Checker {
 public:
  explicit Checker(Demand demand) : all_(demand == Demand::all) {}

  std::string look(const Json& schema, const RecordJson& v, const std::string& path) const {
    if (v.is_null() && !all_) return "";
    if (schema.is_boolean()) return schema.get<bool>() || !all_ ? "" : fmt::format("there is no field '{}'", plain(path));
    for (const auto& [keyword, rule] : schema.items())
      if (std::string why = obey(keyword, rule, schema, v, path); !why.empty()) return why;
    return "";
  }

 private:
  std::string obey(const std::string& keyword, const Json& rule, const Json& schema, const RecordJson& v,
                   const std::string& path) const {
    if (keyword == "description") return "";
    if (keyword == "$ref") return look(definition(rule.get_ref<const std::string&>()), v, path);
    if (keyword == "type") return of_type(rule, v, path);
    if (keyword == "const") return same(rule, v) ? "" : is_not(path, v, rule.dump());
    if (keyword == "enum") return of_words(rule, v, path);
    if (keyword == "minimum")
      return v.is_number() && !(v.get<double>() >= rule.get<double>()) ? is_not(path, v, rule.dump() + " or more") : "";
    if (keyword == "maximum")
      return v.is_number() && !(v.get<double>() <= rule.get<double>()) ? is_not(path, v, rule.dump() + " or less") : "";
    if (keyword == "pattern") return all_ ? of_form(rule, v, path) : "";
    if (keyword == "required") return all_ ? has_all(rule, v, path) : "";
    if (keyword == "properties") return known_fields(rule, v, path);
    if (keyword == "additionalProperties") {
      static const Json none = Json::object();
      return other_fields(rule, schema.contains("properties") ? schema.at("properties") : none, v, path);
    }
    if (keyword == "items") return items(rule, v, path);
    if (keyword == "oneOf") return one_of(rule, v, path);
    throw std::logic_error("schema: a keyword that is not known: " + keyword);
  }

  static std::string of_type(const Json& rule, const RecordJson& v, const std::string& path) {
    if (rule.is_string()) return type_named(rule).is(v) ? "" : is_not(path, v, std::string(type_named(rule).words));
    std::string expected;
    for (const Json& name : rule) {
      if (type_named(name).is(v)) return "";
      expected += fmt::format("{}{}", expected.empty() ? "" : " or ", type_named(name).words);
    }
    return is_not(path, v, expected);
  }
  static bool same(const Json& word, const RecordJson& v) {
    if (word.is_string() && v.is_string()) return word.get_ref<const std::string&>() == v.get_ref<const std::string&>();
    return v == RecordJson(word);
  }
  static std::string of_words(const Json& words, const RecordJson& v, const std::string& path) {
    for (const Json& word : words)
      if (same(word, v)) return "";
    return is_not(path, v, "one of " + words.dump());
  }
  static std::string of_form(const Json& form, const RecordJson& v, const std::string& path) {
    if (!v.is_string() || std::regex_search(v.get_ref<const std::string&>(), std::regex(form.get<std::string>()))) return "";
    return is_not(path, v, "a text of the form " + form.dump());
  }
  static std::string has_all(const Json& names, const RecordJson& v, const std::string& path) {
    for (const Json& name : names)
      if (v.is_object() && !v.contains(name.get_ref<const std::string&>()))
        return fmt::format("the field '{}' is missing", within(path, name.get<std::string>()));
    return "";
  }
  std::string known_fields(const Json& rules, const RecordJson& v, const std::string& path) const {
    if (!v.is_object()) return "";
    for (const auto& [name, value] : v.items())
      if (const auto rule = rules.find(name); rule != rules.end())
        if (std::string why = look(*rule, value, within(path, name)); !why.empty()) return why;
    return "";
  }
  std::string other_fields(const Json& rule, const Json& known, const RecordJson& v, const std::string& path) const {
    if (!v.is_object()) return "";
    for (const auto& [name, value] : v.items())
      if (!known.contains(name))
        if (std::string why = look(rule, value, within(path, name)); !why.empty()) return why;
    return "";
  }
  std::string items(const Json& rule, const RecordJson& v, const std::string& path) const {
    if (!v.is_array()) return "";
    for (const RecordJson& item : v)
      if (std::string why = look(rule, item, path); !why.empty()) return why;
    return "";
  }
  std::string one_of(const Json& forms, const RecordJson& v, const std::string& path) const {
    std::string first;
    std::size_t fit = 0;
    for (const Json& form : forms) {
      const std::string why = look(form, v, path);
      fit += why.empty();
      if (first.empty()) first = why;
    }
    if (fit == 0) return first;
    return fit > 1 && all_ ? fmt::format("the field '{}' has several forms", plain(path)) : "";
  }

  const bool all_;
};

}  // namespace

const Json& record_schema() {
  static const Json schema = schema_of_records();
  return schema;
}

std::string violation(const RecordJson& record, Demand demand) {
  const Json& kinds = record_schema().at("oneOf");
  const auto named = record.find("record");
  const std::string word = named != record.end() && named->is_string() ? named->get<std::string>() : "";
  for (const Json& kind : kinds)
    if (kind.at("$ref") == "#/$defs/" + word) return Checker(demand).look(kind, record, "");
  return demand == Demand::all ? fmt::format("'{}' is no kind of record", plain(word)) : "";
}

}  // namespace assay
