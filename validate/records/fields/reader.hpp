// SPDX-License-Identifier: Apache-2.0
// Reads the fields of a record from JSON.  Throws BadInput, which names the field, if one that is required is missing, or one is
// not of its type.  Null counts as missing, and what is missing stays as it was.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "validate/base/error.hpp"
#include "validate/records/fields/fields.hpp"
#include "validate/records/text_file.hpp"

namespace assay {

class FieldReader {
 public:
  static constexpr bool kReads = true;
  // A finite number above `most` is refused.
  explicit FieldReader(const RecordJson& from, double most = std::numeric_limits<double>::infinity())
      : from_(from), most_(most) {}

  template <class T>
  void required(std::string_view name, T& value, const Say& = {}) {
    const std::string key(name);
    read(field_in(from_, key.c_str()), value, key);
  }
  template <class T>
  void optional(std::string_view name, T& value, const Say& = {}) {
    const std::string key(name);
    if (const auto at = from_.find(key); at != from_.end() && !at->is_null()) read(*at, value, key);
  }
  template <class T>
  void added(std::string_view name, T& value, const Say& = {}) {
    optional(name, value);
  }
  template <class T>
  void known(std::string_view, const T&, const Say& = {}) {}
  template <class T>
  void known_optional(std::string_view, const T&, const Say& = {}) {}
  void either(std::string_view a, std::string_view b) {
    if (from_.contains(a) == from_.contains(b)) throw BadInput(fmt::format("it has either '{}' or '{}'", a, b));
  }

 private:
  void read(const RecordJson& j, double& value, const std::string& name) const {
    value = number_of(j, name);
    if (std::isfinite(value) && std::fabs(value) > most_)
      throw BadInput(fmt::format("'{}' is {:.3g}, and at most {:g} is possible", name, value, most_));
  }
  static void read(const RecordJson& j, RecordJson& value, const std::string&) { value = j; }
  static void read(const RecordJson& j, bool& value, const std::string& name) {
    if (!j.is_boolean()) throw BadInput(fmt::format("the field '{}' is not true or false", name));
    value = j.get<bool>();
  }
  static void read(const RecordJson& j, std::string& value, const std::string& name) {
    if (!j.is_string()) throw BadInput(fmt::format("the field '{}' is not a text", name));
    value = j.get<std::string>();
  }
  template <std::integral T>
  static void read(const RecordJson& j, T& value, const std::string& name) {
    if (!j.is_number_integer()) throw BadInput(fmt::format("the field '{}' is not a whole number", name));
    value = j.get<T>();
  }
  template <Worded E>
  static void read(const RecordJson& j, E& value, const std::string& name) {
    std::string word;
    read(j, word, name);
    int number = 0;
    for (const std::string_view one : WordsOf<E>::all()) {
      if (one == word) {
        value = static_cast<E>(number);
        return;
      }
      ++number;
    }
    throw BadInput(fmt::format("the field '{}' is '{}', which is unknown", name, word));
  }
  template <Described T>
  void read(const RecordJson& j, T& value, const std::string& name) const {
    if (!j.is_object()) throw BadInput(fmt::format("the field '{}' is not an object", name));
    FieldReader from(j, most_);
    Fields<T>::visit(from, value);
  }
  template <class T>
  void read(const RecordJson& j, std::optional<T>& value, const std::string& name) const {
    read(j, value.emplace(), name);
  }
  template <class T>
  void read(const RecordJson& j, std::vector<T>& all, const std::string& name) const {
    if (!j.is_array()) throw BadInput(fmt::format("the field '{}' is not a list", name));
    all.clear();
    for (const RecordJson& one : j) read(one, all.emplace_back(), name);
  }
  template <class T>
  void read(const RecordJson& j, std::map<std::string, T>& all, const std::string& name) const {
    if (!j.is_object()) throw BadInput(fmt::format("the field '{}' is not an object", name));
    all.clear();
    for (const auto& [key, one] : j.items()) read(one, all[key], key);
  }
  template <class T>
  void read(const RecordJson& j, Pairs<T>& all, const std::string& name) const {
    if (!j.is_object()) throw BadInput(fmt::format("the field '{}' is not an object", name));
    all.clear();
    for (const auto& [key, one] : j.items()) read(one, all.emplace_back(key, T()).second, key);
  }

  const RecordJson& from_;
  const double most_;
};

// Reads the fields of T, which may be some of those that the record has.
template <Described T>
void read_fields(const RecordJson& j, T& to, double most = std::numeric_limits<double>::infinity()) {
  FieldReader from(j, most);
  Fields<T>::visit(from, to);
}

}  // namespace assay
