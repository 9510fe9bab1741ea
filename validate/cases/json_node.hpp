// SPDX-License-Identifier: Apache-2.0
// JSON that somebody wrote: each value knows its place, so that a message names it.  `Json`: nlohmann::json, or ordered_json
// where the order of keys counts.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"
#include "validate/cases/case.hpp"
#include "validate/cases/float_value.hpp"
#include "validate/cases/place.hpp"

namespace assay {

template <class Json>
struct JsonNode {
  const Json& json;
  Place place;

  [[noreturn]] void fail(std::string_view why) const { throw BadInput(fmt::format("{}: {}", place.text(), why)); }
  JsonNode at(std::string_view key) const {
    const auto it = json.find(key);
    if (it == json.end()) fail(fmt::format("'{}' is missing.", key));
    return {*it, {place.file, fmt::format("{}/{}", place.pointer, key)}};
  }
  bool has(std::string_view key) const { return json.contains(key); }
  template <class Visit>
  void each_key(Visit visit) const {
    if (!json.is_object()) fail("expected an object.");
    for (const auto& [key, value] : json.items()) visit(key, at(key));
  }
  // Checks that it is an object with only these keys.
  const JsonNode& object(const Names& allowed) const {
    each_key([&](const std::string& key, const JsonNode&) {
      if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) fail(unknown("key", key, allowed));
    });
    return *this;
  }
  std::vector<JsonNode> list(std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    if (!json.is_array()) fail("expected a list.");
    if (json.empty()) fail("the list is empty.");
    if (json.size() > most) fail(fmt::format("the list has more than {} values.", most));
    std::vector<JsonNode> out;
    for (std::size_t i = 0; i < json.size(); ++i) out.push_back({json[i], {place.file, fmt::format("{}/{}", place.pointer, i)}});
    return out;
  }
  std::int64_t integer(std::int64_t least) const {
    if (!json.is_number_integer()) fail("expected a whole number.");
    if (json.is_number_unsigned() ? json.template get<std::uint64_t>() > static_cast<std::uint64_t>(kMostExtent)
                                  : json.template get<std::int64_t>() > kMostExtent)
      fail(fmt::format("{} is more than 2^40.", json.dump()));
    if (json.template get<std::int64_t>() < least) fail(fmt::format("{} is less than {}.", json.dump(), least));
    return json.template get<std::int64_t>();
  }
  double number() const {
    if (!json.is_number()) fail("expected a number.");
    if (const std::string_view why = no_float(json.template get<double>()); !why.empty())
      fail(fmt::format("{} is {}.", json.dump(), why));
    return json.template get<double>();
  }
  double positive() const {
    if (number() <= 0) fail("expected a number above zero.");
    return number();
  }
  std::string text() const {
    if (!json.is_string()) fail("expected a text.");
    const auto text = json.template get<std::string>();
    if (text.empty()) fail("the text is empty.");
    if (plain(text) != text) fail("the text has a control character.");
    return text;
  }
  bool flag() const {
    if (!json.is_boolean()) fail("expected true or false.");
    return json.template get<bool>();
  }
  std::string one_of(std::string_view kind, const Names& known) const {
    std::string word = text();
    if (std::find(known.begin(), known.end(), word) == known.end()) fail(unknown(kind, word, known));
    return word;
  }
  std::vector<std::int64_t> integers(std::int64_t least) const {
    std::vector<std::int64_t> out;
    for (const JsonNode& n : list()) out.push_back(n.integer(least));
    return out;
  }
  // A list of numbers (in shortest form) and words, as text.
  std::vector<std::string> values() const {
    std::vector<std::string> out;
    for (const JsonNode& n : list()) out.push_back(n.json.is_string() ? n.text() : (n.number(), n.json.dump()));
    return out;
  }
  std::vector<std::string> texts(std::string_view kind, const Names& known) const {
    std::vector<std::string> out;
    for (const JsonNode& n : list()) out.push_back(known.empty() ? n.text() : n.one_of(kind, known));
    return out;
  }
};

// The whole file.  Throws BadInput with its name.
inline std::string json_text(const std::string& file) {
  std::string why;
  if (auto text = read_file(file, why)) return std::move(*text);
  throw BadInput(fmt::format("{}: cannot be read: {}.", file, why));
}

// A file's text as JSON, in which no object has a key twice.  Throws BadInput with the file's name.
template <class Json>
Json parse_json(const std::string& text, const std::string& file) {
  if (nests_too_deeply(text)) throw BadInput(fmt::format("{}: its lists and objects lie too deep in each other.", file));
  try {
    return Json::parse(text, unique_keys<Json>(file + ": it"));
  } catch (const typename Json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    throw BadInput(fmt::format("{}: line {}: not valid JSON (byte {}).", file, line, e.byte));
  } catch (const typename Json::exception&) {
    throw BadInput(fmt::format("{}: a number is out of range.", file));
  }
}

}  // namespace assay
