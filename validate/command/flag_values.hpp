// SPDX-License-Identifier: Apache-2.0
// Validators of flag values.  Each returns a sentence if the value is wrong, as CLI11 asks.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "validate/base/error.hpp"

namespace assay {

inline constexpr double kAboveZero = std::numeric_limits<double>::min();

// Accepts one of `names`; the sentence suggests the nearest one.
inline CLI::Validator one_of(const char* kind, Names names) {
  const auto check = [kind, names](std::string& word) {
    return std::find(names.begin(), names.end(), word) == names.end() ? unknown(kind, word, names) : std::string();
  };
  return CLI::Validator(check, "", kind);
}

// Accepts a number from `least` to `most`.  Note: CLI::Range accepts NaN.
inline CLI::Validator number(const char* kind, double least, double most, const char* what) {
  const auto check = [least, most, what](std::string& text) {
    double v = 0;
    const bool read = CLI::detail::lexical_cast(text, v);
    return read && v >= least && v <= most ? std::string() : fmt::format("'{}' is not {}", text, what);
  };
  return CLI::Validator(check, "", kind);
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

// Accepts a seed.  Note: CLI11 alone reads -1 and 2^64 as the largest number.
inline CLI::Validator seed() {
  const auto check = [](std::string& text) {
    std::uint64_t v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::string() : fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", text);
  };
  return CLI::Validator(check, "", "seed");
}

}  // namespace assay
