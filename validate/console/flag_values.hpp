// SPDX-License-Identifier: Apache-2.0
// Validators of the values of flags, one for each kind of docs/readers.md.  Each returns a sentence if the value is wrong, as
// CLI11 asks, and else leaves a text that CLI11 reads as it was meant: alone it reads 010 as 8, and takes 0x3, "+3" and " 3".
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/cases/datasets.hpp"

namespace assay {

inline constexpr double kAboveZero = std::numeric_limits<double>::min();

// The whole text as a T, in decimal; none if it is anything else.
template <class T>
std::optional<T> whole_text(std::string_view text) {
  T v{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(v) : std::nullopt;
}

// Accepts one of `names`; the sentence suggests the nearest one.
inline CLI::Validator one_of(const char* kind, Names names) {
  const auto check = [kind, names](std::string& word) {
    return std::find(names.begin(), names.end(), word) == names.end() ? unknown(kind, word, names) : std::string();
  };
  return CLI::Validator(check, "", kind);
}

// Accepts a number from `least` to `most`.
inline CLI::Validator number(const char* kind, double least, double most, const char* what) {
  const auto check = [least, most, what](std::string& text) {
    const std::optional<double> v = whole_text<double>(text);
    return v && *v >= least && *v <= most ? std::string() : fmt::format("'{}' is not {}", text, what);
  };
  return CLI::Validator(check, "", kind);
}

// Accepts a whole number from `least` to `most`.
inline CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto change = [=](std::string& text) {
    const std::optional<std::int64_t> v = whole_text<std::int64_t>(text);
    if (!v || *v < least || *v > most) return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
    text = fmt::format("{}", *v);
    return std::string();
  };
  return CLI::Validator(change, fmt::format("{} to {}", least, most), "whole number");
}

// Accepts a seed.
inline CLI::Validator seed() {
  const auto change = [](std::string& text) {
    const std::optional<std::uint64_t> v = whole_text<std::uint64_t>(text);
    if (!v) return fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", text);
    text = fmt::format("{}", *v);
    return std::string();
  };
  return CLI::Validator(change, "", "seed");
}

// Seconds of "60", "60s", "500ms", "2m", "1h"; none if the text is no duration.
inline std::optional<double> seconds_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  for (const auto& [name, seconds] : kUnits)
    if (error == std::errc() && unit == name) return value * seconds;
  return std::nullopt;
}

// Accepts a duration and turns it into seconds.
inline CLI::Validator duration(double least_s, double most_s) {
  const auto change = [=](std::string& text) {
    const std::optional<double> s = seconds_of(text);
    if (!s || !(*s >= least_s && *s <= most_s))
      return fmt::format("'{}' is not a duration {}{:.10g} s, like 60, 60s, 500ms or 2m", text,
                         least_s == kAboveZero ? "above 0 and up to " : fmt::format("of {:g} to ", least_s), most_s);
    text = fmt::format("{}", *s);
    return std::string();
  };
  return CLI::Validator(change, "", "duration");
}
inline CLI::Validator duration() { return duration(kAboveZero, 1e6); }

// Accepts a folder of datasets, also where no case comes from it.
inline CLI::Validator datasets() {
  const auto check = [](std::string& folder) {
    return has_datasets(folder) ? std::string() : fmt::format("'{}' is no folder of datasets: it lacks {}", folder, kCommonEdges);
  };
  return CLI::Validator(check, "", "datasets");
}

}  // namespace assay
