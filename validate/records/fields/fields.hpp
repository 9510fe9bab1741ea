// SPDX-License-Identifier: Apache-2.0
// The fields of a record, described once: Fields<T>::visit(v, t) gives each field of T to the visitor v, with its name, its C++
// type and what it means, in the order in which they are written.  From this come what is written (writer.hpp), what is read back
// (reader.hpp) and reports/schema.json (schema_maker.hpp).
//
// What is not known is missing: an empty optional, an empty text, list or map, false.  No number stands for a missing one.  Older
// files have null in its place, which is read as missing.
//
// A visitor has
//   required(name, value, say)   in every record
//   added(name, value, say)      in every record but older ones
//   optional(name, value, say)   where there is something to say
//   known(name, value, say)      in every record; who reads it back knows it already, so it is not read
//   known_optional(name, value, say)
//   either(a, b)                 each record has one of the two fields that these name
// and kReads, whether it changes what it visits.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {

// A number of a time, a rate or a size beyond which no machine has one, and sums and ratios would overflow.
inline constexpr double kMostFigure = 1e30;

struct Say {
  std::string_view about{};  // what the field means, where its name does not tell
  std::string_view form{};   // JSON Schema of its value; empty: that of its C++ type
};

// Forms that several fields have.
namespace form {
inline constexpr std::string_view kSize = R"({"$ref": "#/$defs/size"})";      // finite, 0 or more
inline constexpr std::string_view kNumber = R"({"$ref": "#/$defs/number"})";  // any double
inline constexpr std::string_view kHash = R"({"type": "string", "pattern": "^[0-9a-f]{16}$"})";
}  // namespace form

// A struct that is one of the schema's $defs has its name there, `kDef`, and what it says of itself, `kAbout`.
template <class T>
struct Fields;
// An enum has `all()`, its words in the order of its values, and `kDef`.
template <class E>
struct WordsOf;

template <class T>
concept Described = requires {
  sizeof(Fields<std::remove_const_t<T>>);
};
template <class T>
concept Worded = std::is_enum_v<T> && requires {
  WordsOf<T>::all();
};

// A map whose order is kept.
template <class T>
using Pairs = std::vector<std::pair<std::string, T>>;

}  // namespace assay
