// SPDX-License-Identifier: Apache-2.0
// Writes the fields of a record as JSON.  JSON has no NaN and no infinity, so these are the texts "nan", "inf" and "-inf".
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "validate/records/fields/fields.hpp"

namespace assay {

class FieldWriter {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr bool kReads = false;
  explicit FieldWriter(Json& to) : to_(to) {}

  template <class T>
  void required(std::string_view name, const T& value, const Say& = {}) {
    to_[std::string(name)] = json_of(value);
  }
  template <class T>
  void added(std::string_view name, const T& value, const Say& = {}) {
    required(name, value);
  }
  template <class T>
  void optional(std::string_view name, const T& value, const Say& = {}) {
    if (says(value)) required(name, value);
  }
  template <class T>
  void known(std::string_view name, const T& value, const Say& = {}) {
    required(name, value);
  }
  template <class T>
  void known_optional(std::string_view name, const T& value, const Say& = {}) {
    optional(name, value);
  }

  void either(std::string_view, std::string_view) {}

  static Json json_of(double v) {
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    return v;
  }
  template <class T>
  static Json json_of(const T& v) {
    if constexpr (Worded<T>) {
      return name(v);
    } else if constexpr (Described<T>) {
      Json j = Json::object();
      FieldWriter to(j);
      Fields<T>::visit(to, v);
      return j;
    } else {
      return v;
    }
  }
  template <class T>
  static Json json_of(const std::optional<T>& v) {
    return json_of(*v);
  }
  template <class T>
  static Json json_of(const std::vector<T>& all) {
    Json j = Json::array();
    for (const T& one : all) j.push_back(json_of(one));
    return j;
  }
  template <class Key, class T>
  static Json json_of(const std::map<Key, T>& all) {
    Json j = Json::object();
    for (const auto& [key, one] : all) j[std::string(key)] = json_of(one);
    return j;
  }
  template <class T>
  static Json json_of(const Pairs<T>& all) {
    Json j = Json::object();
    for (const auto& [key, one] : all) j[key] = json_of(one);
    return j;
  }

 private:
  template <class T>
  static bool says(const T& v) {
    if constexpr (std::is_same_v<T, bool>) return v;
    else if constexpr (requires { v.has_value(); }) return v.has_value();
    else return !v.empty();
  }

  Json& to_;
};

// The line of a record.  Bytes that are not UTF-8, as a dying worker's message may have, are replaced, so that it is not lost.
template <Described T>
std::string record_line(std::string_view kind, const T& record) {
  nlohmann::ordered_json j{{"record", kind}};
  FieldWriter to(j);
  Fields<T>::visit(to, record);
  return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace assay
