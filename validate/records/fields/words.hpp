// SPDX-License-Identifier: Apache-2.0
// The words of the enums that records have.
#pragma once

#include "validate/records/fields/fields.hpp"
#include "validate/records/record.hpp"

namespace assay {

template <>
struct WordsOf<Verdict> {
  static constexpr std::string_view kDef{};
  static std::vector<std::string_view> all() { return {std::begin(kVerdicts), std::end(kVerdicts)}; }
};
template <>
struct WordsOf<Tier> {
  static constexpr std::string_view kDef{};
  static std::vector<std::string_view> all() { return {kTiers.begin(), kTiers.end()}; }
};
template <>
struct WordsOf<DType> {
  static constexpr std::string_view kDef = "dtype";
  static std::vector<std::string_view> all() {
    std::vector<std::string_view> words;
    for (const DTypeInfo& t : kDTypes) words.push_back(t.name);
    return words;
  }
};
template <>
struct WordsOf<Axis> {  // Note: without Axis::one, which no record names
  static constexpr std::string_view kDef = "axis";
  static std::vector<std::string_view> all() {
    std::vector<std::string_view> words;
    for (const AxisInfo& a : kAxes) words.push_back(a.name);
    return words;
  }
};

}  // namespace assay
