// SPDX-License-Identifier: Apache-2.0
// Makes JSON Schema of the fields of records.
#pragma once

#include <nlohmann/json.hpp>

#include "validate/records/fields/fields.hpp"

namespace assay {

class SchemaMaker {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr bool kReads = false;
  // `defs` gets what is referred to.
  explicit SchemaMaker(Json& defs) : defs_(defs), required_(Json::array()), properties_(Json::object()) {}

  template <class T>
  void required(std::string_view name, const T&, const Say& say = {}) {
    required_.push_back(name);
    add(name, form_of<T>(), say);
  }
  template <class T>
  void optional(std::string_view name, const T&, const Say& say = {}) {
    if constexpr (std::is_same_v<T, bool>) add(name, {{"const", true}}, say);
    else add(name, form_of<T>(), say);
  }
  template <class T>
  void added(std::string_view name, const T&, const Say& say = {}) {
    add(name, form_of<T>(), say);
  }
  template <class T>
  void known(std::string_view name, const T& value, const Say& say = {}) {
    required(name, value, say);
  }
  template <class T>
  void known_optional(std::string_view name, const T& value, const Say& say = {}) {
    optional(name, value, say);
  }

  void either(std::string_view a, std::string_view b) { either_ = {{{"required", {a}}}, {{"required", {b}}}}; }

  // Adds a kind of record to the defs.
  template <Described T>
  static void add_kind(Json& defs, std::string_view kind, std::string_view about) {
    SchemaMaker maker(defs);
    maker.required_.push_back("record");
    maker.properties_["record"] = {{"const", kind}};
    const T nothing{};
    Fields<T>::visit(maker, nothing);
    defs[std::string(kind)] = maker.made(about);
  }

 private:
  template <class T>
  Json form_of() {
    if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
    else if constexpr (std::is_same_v<T, double>) return Json::parse(form::kNumber);
    else if constexpr (std::is_integral_v<T>) return {{"$ref", "#/$defs/count"}};
    else if constexpr (Worded<T>) return form_of_words(WordsOf<T>::all(), WordsOf<T>::kDef);
    else if constexpr (Described<T>) return form_of_struct<T>();
    else return form_of_many(static_cast<const T*>(nullptr));
  }
  Json form_of_many(const std::string*) { return {{"type", "string"}}; }
  Json form_of_many(const Json*) { return Json::object(); }
  template <class T>
  Json form_of_many(const std::optional<T>*) {
    return form_of<T>();
  }
  template <class T>
  Json form_of_many(const std::vector<T>*) {
    return {{"type", "array"}, {"items", form_of<T>()}};
  }
  template <class Key, class T>
  Json form_of_many(const std::map<Key, T>*) {
    return {{"type", "object"}, {"additionalProperties", form_of<T>()}};
  }
  template <class T>
  Json form_of_many(const Pairs<T>*) {
    return {{"type", "object"}, {"additionalProperties", form_of<T>()}};
  }
  template <class T>
  Json form_of_struct() {
    SchemaMaker inner(defs_);
    const T nothing{};
    Fields<T>::visit(inner, nothing);
    if constexpr (requires { Fields<T>::kDef; }) {
      const std::string def(Fields<T>::kDef);
      defs_[def] = inner.made(Fields<T>::kAbout);
      return {{"$ref", "#/$defs/" + def}};
    } else {
      return inner.made({});
    }
  }
  Json form_of_words(const std::vector<std::string_view>& words, std::string_view def);
  void add(std::string_view name, Json form, const Say& say);
  Json made(std::string_view about) const;

  Json& defs_;
  Json required_, properties_, either_;
};

// The text of a schema, with short objects and lists on a line of their own.
std::string schema_text(const nlohmann::ordered_json& schema);

}  // namespace assay
