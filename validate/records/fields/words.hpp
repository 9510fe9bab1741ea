// SPDX-License-Identifier: Apache-2.0
// The words of the enums that records have.
#pragma once

#include "validate/records/fields/fields.hpp"
#include "validate/records/record.hpp"

namespace assay {

template <class All>
std::vector<std::string_view> names_of(const All& all) {
  std::vector<std::string_view> names;
  for (const auto& one : all) names.push_back(one.name);
  return names;
}

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
  static std::vector<std::string_view> all() { return names_of(kDTypes); }
};

}  // namespace assay
