// SPDX-License-Identifier: Apache-2.0
// Checks records against reports/schema.json, with the part of JSON Schema 2020-12 that the schema uses.  An unknown keyword
// throws, so that the schema cannot demand more than is checked.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <string>

namespace assay::test {

using Json = nlohmann::json;

inline const Json& schema() {
  static const Json loaded =
      Json::parse(std::ifstream(std::filesystem::path(ASSAY_DATASETS_DIR).parent_path() / "reports/schema.json"));
  return loaded;
}

inline bool has_type(const Json& v, const std::string& type) {
  if (type == "object") return v.is_object();
  if (type == "array") return v.is_array();
  if (type == "string") return v.is_string();
  if (type == "boolean") return v.is_boolean();
  if (type == "null") return v.is_null();
  if (type == "number") return v.is_number();
  if (type == "integer") return v.is_number_integer() || (v.is_number() && v.get<double>() == std::floor(v.get<double>()));
  throw std::runtime_error("schema: unknown type " + type);
}

// Says how v, at path `where`, violates schema s; empty: it does not.
inline std::string violation(const Json& s, const Json& v, const std::string& where) {
  if (s.is_boolean()) return s.get<bool>() ? "" : where + ": not allowed";
  for (const auto& [key, rule] : s.items()) {
    if (key == "$schema" || key == "$id" || key == "$defs" || key == "title" || key == "description") continue;
    if (key == "$ref") {
      const std::string name = rule.get<std::string>();
      if (name.rfind("#/", 0) != 0) throw std::runtime_error("schema: a reference elsewhere: " + name);
      if (std::string w = violation(schema().at(Json::json_pointer(name.substr(1))), v, where); !w.empty()) return w;
    } else if (key == "type") {
      bool any = false;
      if (rule.is_string()) any = has_type(v, rule);
      else
        for (const Json& t : rule) any = any || has_type(v, t);
      if (!any) return where + ": not of type " + rule.dump() + ": " + v.dump();
    } else if (key == "const") {
      if (v != rule) return where + ": not " + rule.dump();
    } else if (key == "enum") {
      if (std::find(rule.begin(), rule.end(), v) == rule.end()) return where + ": none of " + rule.dump() + ": " + v.dump();
    } else if (key == "minimum") {
      if (v.is_number() && !(v.get<double>() >= rule.get<double>())) return where + ": below " + rule.dump();
    } else if (key == "maximum") {
      if (v.is_number() && !(v.get<double>() <= rule.get<double>())) return where + ": above " + rule.dump();
    } else if (key == "pattern") {
      if (v.is_string() && !std::regex_search(v.get<std::string>(), std::regex(rule.get<std::string>())))
        return where + ": not of the form " + rule.dump() + ": " + v.dump();
    } else if (key == "required") {
      for (const Json& name : rule)
        if (v.is_object() && !v.contains(name.get<std::string>())) return where + ": no " + name.dump();
    } else if (key == "properties") {
      for (const auto& [name, sub] : rule.items())
        if (v.is_object() && v.contains(name))
          if (std::string w = violation(sub, v.at(name), where + "/" + name); !w.empty()) return w;
    } else if (key == "additionalProperties") {
      if (!v.is_object()) continue;
      for (const auto& [name, value] : v.items())
        if (!s.contains("properties") || !s.at("properties").contains(name))
          if (std::string w = violation(rule, value, where + "/" + name); !w.empty()) return w;
    } else if (key == "items") {
      if (!v.is_array()) continue;
      for (std::size_t i = 0; i < v.size(); ++i)
        if (std::string w = violation(rule, v[i], where + "/" + std::to_string(i)); !w.empty()) return w;
    } else if (key == "oneOf") {
      int fits = 0;
      std::string why;
      for (const Json& sub : rule) {
        const std::string w = violation(sub, v, where);
        fits += w.empty();
        if (w.find("/record: not \"") == std::string::npos) why += (why.empty() ? "" : "; ") + w;
      }
      if (fits != 1) return fits ? where + ": fits several" : where + ": fits none: " + why;
    } else {
      throw std::runtime_error("schema: a keyword that this checker does not know: " + key);
    }
  }
  return "";
}
inline std::string violation(const std::string& line) { return violation(schema(), Json::parse(line), ""); }

}  // namespace assay::test
