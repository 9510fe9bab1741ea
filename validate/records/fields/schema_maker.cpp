// SPDX-License-Identifier: Apache-2.0
#include "validate/records/fields/schema_maker.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostColumns = 150;

// On one line: { "a": 1, "b": [2, 3] }
std::string on_a_line(const Json& j) {
  if (!j.is_structured()) return j.dump();
  if (j.empty()) return j.is_object() ? "{}" : "[]";
  std::string text;
  for (const auto& [key, value] : j.items()) {
    if (!text.empty()) text += ", ";
    if (j.is_object()) text += Json(key).dump() + ": ";
    text += on_a_line(value);
  }
  return j.is_object() ? "{ " + text + " }" : "[" + text + "]";
}

void append(std::string& text, const Json& j, std::size_t indent, std::size_t column) {
  std::string line = on_a_line(j);
  if (!j.is_structured() || j.empty() || (indent > 0 && column + line.size() <= kMostColumns)) {
    text += line;
    return;
  }
  text += j.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, value] : j.items()) {
    text += first ? "\n" : ",\n";
    first = false;
    text += std::string(indent + 2, ' ');
    const std::string name = j.is_object() ? Json(key).dump() + ": " : "";
    text += name;
    append(text, value, indent + 2, indent + 2 + name.size());
  }
  text += "\n" + std::string(indent, ' ') + (j.is_object() ? '}' : ']');
}

}  // namespace

Json SchemaMaker::form_of_words(const std::vector<std::string_view>& words, std::string_view def) {
  const Json form{{"enum", words}};
  if (def.empty()) return form;
  defs_[std::string(def)] = form;
  return {{"$ref", "#/$defs/" + std::string(def)}};
}

void SchemaMaker::add(std::string_view name, Json form, const Say& say) {
  Json property = Json::object();
  if (!say.about.empty()) property["description"] = say.about;
  property.update(say.form.empty() ? std::move(form) : Json::parse(say.form));
  properties_[std::string(name)] = std::move(property);
}

Json SchemaMaker::made(std::string_view about) const {
  Json schema = Json::object();
  if (!about.empty()) schema["description"] = about;
  schema["type"] = "object";
  if (!required_.empty()) schema["required"] = required_;
  if (!either_.is_null()) schema["oneOf"] = either_;
  schema["properties"] = properties_;
  schema["additionalProperties"] = false;
  return schema;
}

std::string schema_text(const Json& schema) {
  std::string text;
  append(text, schema, 0, 0);
  return text + "\n";
}

}  // namespace assay
