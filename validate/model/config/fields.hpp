// SPDX-License-Identifier: Apache-2.0
// The fields of a config.json, by family: what each may hold, and whether it changes what a model computes.  A field that is not
// in its family's table is refused, since nothing here computes it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/core/model.hpp"

namespace assay {

// A field of a config.json that a family knows.
struct ConfigField {
  enum class Kind : std::uint8_t {
    count,     // a whole number from 1 to `most`
    number,    // a number from `least` to `most`
    flag,      // true or false
    word,      // a text
    rope,      // an object with the fields `inside`
    only,      // one of `values`; nothing here computes others
    harmless,  // anything: it does not change what a pass computes
  };
  std::string_view name;
  Kind kind = Kind::harmless;
  double least = 0, most = 0;
  std::vector<nlohmann::json> values{};
  bool or_null = false;                   // null stands for the default
  std::vector<std::string_view> types{};  // of rope that have the field; none: all have it
  std::vector<ConfigField> inside{};

  bool fits(const nlohmann::json& value) const;
  // "a number from 0 to 1", "true or false"
  std::string expected() const;
};
using ConfigTable = std::vector<ConfigField>;

struct ConfigFamily {
  std::string_view name;  // its model_type
  reference::Decoder::Family family;
  ConfigTable fields;
};
const std::vector<ConfigFamily>& config_families();
// The family that a config.json names.  Throws BadInput, which suggests a family only where a letter or two were mistyped.
const ConfigFamily& config_family(const nlohmann::json& config, const std::string& path);

// Fields that were refused and yet left out by --ignore-field, with their values as text.  One inside of another is told as
// rope_scaling.factor.
using IgnoredFields = std::vector<std::pair<std::string, std::string>>;

// Checks each field of a config.json by the table, and takes out those that `ignore` names.  Throws BadInput, one sentence, if a
// field holds what it cannot, if one that is not named asks for what is not computed here, or if one is named that does not.
IgnoredFields check_fields(nlohmann::json& config, const ConfigTable& table, const std::string& path,
                           const std::vector<std::string>& ignore);

// Reads a config.json whose fields have been checked.  Refers to its arguments.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& object, const ConfigTable& table, const std::string& path, const std::string& inside = {})
      : object_(object), table_(table), path_(path), inside_(inside) {}

  // Throws BadInput, a sentence that begins with the path.
  [[noreturn]] void refuse(std::string_view what) const;
  // The name as it is told, with that of the object that the field is inside of.
  std::string told(std::string_view name) const;
  // Whether it has the field, and not null.
  bool has(const char* name) const;
  // Without `otherwise` the field must be there.
  std::int64_t count(const char* name, std::optional<std::int64_t> otherwise = {}) const;
  double number(const char* name, std::optional<double> otherwise = {}) const;
  bool flag(const char* name, bool otherwise) const;
  std::string word(const char* name, const std::string& otherwise) const;
  std::optional<ConfigReader> of(const char* name) const;
  const nlohmann::json& json(const char* name) const { return object_[name]; }

 private:
  const ConfigField& field(const char* name) const;
  // The value of a field; null: it has none, and may lack it.
  const nlohmann::json* value(const char* name, bool may_lack) const;
  const nlohmann::json& object_;
  const ConfigTable& table_;
  const std::string& path_;
  std::string inside_;
};

}  // namespace assay
