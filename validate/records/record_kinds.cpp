// SPDX-License-Identifier: Apache-2.0
#include "validate/records/record_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"

// Embeds the schema, so that the program can be copied alone to another machine.
__asm__(".pushsection .rodata\n.global assay_record_schema\nassay_record_schema:\n.incbin \"" ASSAY_RECORD_SCHEMA
        "\"\n.global assay_record_schema_end\nassay_record_schema_end:\n.byte 0\n.popsection\n");
extern "C" const char assay_record_schema[], assay_record_schema_end[];

namespace assay {

namespace {

using Json = nlohmann::json;
using RecordJson = nlohmann::ordered_json;

// What a field may be.  Not all that the schema says: which fields a record must have, and which words, a reader asks where it
// needs them.
struct FieldKind {
  bool text = false, flag = false, number = false, whole = false, list = false, object = false;
  double least = -std::numeric_limits<double>::infinity();
  std::vector<std::string> words{};  // that stand for numbers
  std::map<std::string, FieldKind, std::less<>> fields{};
  std::shared_ptr<FieldKind> items{}, others{};  // of a list; of an object, beside the fields

  std::string expected() const {
    std::string all;
    for (const auto& [is, name] : {std::pair{number, "a number"},
                                   {whole, "a whole number"},
                                   {text && words.empty(), "a text"},
                                   {flag, "true or false"},
                                   {list, "a list"},
                                   {object, "an object"}})
      if (is) all += fmt::format("{}{}", all.empty() ? "" : " or ", name);
    return all + (least == 0 && (number || whole) ? ", not negative," : "");
  }
};

void add(FieldKind& to, const Json& schema, const Json& root);

void add_type(FieldKind& to, const std::string& type) {
  (type == "string"    ? to.text
   : type == "boolean" ? to.flag
   : type == "number"  ? to.number
   : type == "integer" ? to.whole
   : type == "array"   ? to.list
                       : to.object) = true;
}

void add_words(FieldKind& to, const Json& words) {
  for (const Json& word : words) {
    if (word.is_string()) to.text = true, to.words.push_back(word.get<std::string>());
    if (word.is_number()) to.whole = true;
    if (word.is_boolean()) to.flag = true;
  }
}

std::shared_ptr<FieldKind> kind_of(const Json& schema, const Json& root) {
  const auto kind = std::make_shared<FieldKind>();
  add(*kind, schema, root);
  return kind;
}

void add(FieldKind& to, const Json& schema, const Json& root) {
  if (!schema.is_object()) return;
  if (const auto at = schema.find("$ref"); at != schema.end())
    add(to, root.at(Json::json_pointer(at->get<std::string>().substr(1))), root);
  for (const char* of : {"oneOf", "anyOf"})
    if (const auto at = schema.find(of); at != schema.end())
      for (const Json& one : *at) add(to, one, root);
  if (const auto at = schema.find("type"); at != schema.end())
    for (const Json& type : at->is_array() ? *at : Json::array({*at}))
      if (type != "null") add_type(to, type.get<std::string>());
  if (const auto at = schema.find("enum"); at != schema.end()) add_words(to, *at);
  if (const auto at = schema.find("const"); at != schema.end()) add_words(to, Json::array({*at}));
  if (const auto at = schema.find("minimum"); at != schema.end()) to.least = at->get<double>();
  if (const auto at = schema.find("properties"); at != schema.end())
    for (const auto& [key, field] : at->items()) add(to.fields[key], field, root);
  if (const auto at = schema.find("items"); at != schema.end()) to.items = kind_of(*at, root);
  if (const auto at = schema.find("additionalProperties"); at != schema.end() && at->is_object()) to.others = kind_of(*at, root);
}

// By the word in the field `record`.
const std::map<std::string, FieldKind>& kinds() {
  static const std::map<std::string, FieldKind> all = [] {
    const Json root = Json::parse(assay_record_schema, assay_record_schema_end);
    std::map<std::string, FieldKind> made;
    for (const Json& one : root.at("oneOf")) {
      const std::string name = one.at("$ref").get<std::string>().substr(std::string_view("#/$defs/").size());
      made[name] = *kind_of(one, root);
    }
    return made;
  }();
  return all;
}

bool fits(const FieldKind& kind, const RecordJson& v) {
  if (v.is_boolean()) return kind.flag;
  if (v.is_array()) return kind.list;
  if (v.is_object()) return kind.object;
  if (v.is_string()) {
    const auto& text = v.get_ref<const std::string&>();
    return kind.text &&
           (!kind.number || kind.words.empty() || std::find(kind.words.begin(), kind.words.end(), text) != kind.words.end());
  }
  const double number = v.get<double>();
  return (kind.number || (kind.whole && number == std::floor(number))) && number >= kind.least;
}

void check(const FieldKind& kind, const RecordJson& v, const std::string& path) {
  const bool unsaid = !(kind.text || kind.flag || kind.number || kind.whole || kind.list || kind.object);
  if (v.is_null() || unsaid) return;
  if (!fits(kind, v))
    throw BadInput(fmt::format("the field '{}' is {}, and {} was expected", plain(path),
                               plain(v.dump(-1, ' ', false, RecordJson::error_handler_t::replace).substr(0, 60)),
                               kind.expected()));
  if (v.is_array() && kind.items)
    for (const RecordJson& item : v) check(*kind.items, item, path);
  if (!v.is_object()) return;
  for (const auto& [key, value] : v.items()) {
    const auto at = kind.fields.find(key);
    if (at != kind.fields.end()) check(at->second, value, path.empty() ? key : fmt::format("{}.{}", path, key));
    else if (kind.others) check(*kind.others, value, path.empty() ? key : fmt::format("{}.{}", path, key));
  }
}

}  // namespace

void check_kinds(const nlohmann::ordered_json& record) {
  const auto name = record.find("record");
  if (name == record.end() || !name->is_string()) return;
  if (const auto at = kinds().find(name->get<std::string>()); at != kinds().end()) check(at->second, record, "");
}

}  // namespace assay
