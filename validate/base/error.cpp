// SPDX-License-Identifier: Apache-2.0
#include "validate/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace assay {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);  // rows i-2, i-1 and i of the distance table
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), row[j - 1] + 1, above[j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

namespace {

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return all;
}

}  // namespace

std::string_view nearest(std::string_view word, const Names& candidates) {
  std::string_view best;
  std::size_t least = 0;
  // Note: the distance takes quadratic time, so a long word (a pasted file) is cut.
  const std::string asked = lower(word.substr(0, 200));
  for (const std::string_view c : candidates) {
    const std::size_t d = edit_distance(asked, lower(c));
    if (2 * d > std::max(asked.size(), c.size())) continue;
    if (best.empty() || d < least) {
      best = c;
      least = d;
    }
  }
  return best;
}

std::string unknown(std::string_view kind, std::string_view word, const Names& candidates) {
  std::string text = fmt::format("unknown {} '{}'.", kind, word.substr(0, 200));
  if (const std::string_view near = nearest(word, candidates); !near.empty())
    return text + fmt::format(" Did you mean '{}'?", near);
  if (candidates.empty()) return text + " None is known.";
  return text + fmt::format(" Known: {}.", fmt::join(candidates, ", "));
}

}  // namespace assay
