// SPDX-License-Identifier: Apache-2.0
// JSON that a user wrote: each value knows its place, so that a message names it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"

namespace assay {

struct JsonNode {
  const nlohmann::ordered_json& json;
  std::string place;

  [[noreturn]] void fail(const std::string& why) const { throw BadInput(fmt::format("{}: {}", place, why)); }
  JsonNode at(std::string_view key) const {
    const auto found = json.find(key);
    if (found == json.end()) fail(fmt::format("'{}' is missing.", key));
    return {*found, fmt::format("{}/{}", place, key)};
  }
  bool has(std::string_view key) const { return json.contains(key); }
  void object() const {
    if (!json.is_object()) fail("expected an object.");
  }
  // An object with no other keys than these.
  void object(const Names& allowed) const {
    object();
    for (const auto& [key, value] : json.items())
      if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) fail(unknown("key", key, allowed));
  }
  std::vector<JsonNode> list(std::size_t most) const {
    if (!json.is_array() || json.empty() || json.size() > most) fail(fmt::format("expected a list of 1 to {} values.", most));
    std::vector<JsonNode> all;
    for (std::size_t k = 0; k < json.size(); ++k) all.push_back({json[k], fmt::format("{}/{}", place, k)});
    return all;
  }
  std::string text() const {
    if (!json.is_string() || json.get_ref<const std::string&>().empty()) fail("expected a text.");
    return plain(json.get<std::string>());
  }
  bool flag() const {
    if (!json.is_boolean()) fail("expected true or false.");
    return json.get<bool>();
  }
  double number() const {
    if (!json.is_number() || !std::isfinite(json.get<double>())) fail("expected a number.");
    return json.get<double>();
  }
};

// The JSON of a file.  Throws BadInput, with the file's path.
inline nlohmann::ordered_json read_json(const std::string& path, std::string& text) {
  using Json = nlohmann::ordered_json;
  std::string why;
  auto read = read_file(path, why);
  if (!read) throw BadInput(fmt::format("{}: {}", path, why));
  text = std::move(*read);
  if (nests_too_deeply(text)) throw BadInput(fmt::format("{}: the JSON nests too deeply", path));
  try {
    return Json::parse(text, unique_keys<Json>(path + ": it"));
  } catch (const Json::exception& e) {
    throw BadInput(fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace assay
