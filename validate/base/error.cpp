// SPDX-License-Identifier: Apache-2.0
#include "validate/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace assay {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view word, const Names& candidates) {
  std::string_view best;
  std::size_t least = 0;
  // Note: a long word is cut, so that a pasted file costs nothing.
  const std::string_view asked = word.substr(0, 200);
  for (const std::string_view c : candidates) {
    const std::size_t d = edit_distance(asked, c);
    if (2 * d > std::max(asked.size(), c.size())) continue;
    if (best.empty() || d < least) best = c, least = d;
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
