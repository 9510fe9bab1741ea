// SPDX-License-Identifier: Apache-2.0
// Relations of ops on rows [rows, cols].
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "validate/relation.hpp"

namespace assay::row_relations {

using Move = Relation::Move;

inline const Relation kRowsPermuted{.name = "rows_permuted",
                                    .shows = "a row whose result depends on its place in a block",
                                    .move = Move::permuted,
                                    .axis = Axis::rows};
inline const Relation kFirstRows{.name = "first_rows",
                                 .shows = "a row whose result depends on how many there are",
                                 .move = Move::first_part,
                                 .axis = Axis::rows};
// Of an op without sums.
inline const Relation kColsPermuted{.name = "cols_permuted",
                                    .shows = "an element whose result depends on its place in a pack or a row",
                                    .move = Move::permuted,
                                    .axis = Axis::cols};
// Of an op that sums over the columns.
inline Relation summands_permuted(std::string_view shows) {
  return {.name = "cols_permuted", .shows = shows, .move = Move::permuted, .axis = Axis::cols, .bits = false};
}

// Values that a factor of two keeps far from overflow and underflow, in every square and sum.
inline bool moderate(const Case& c) { return c.fill == "normal"; }

// So that a row twice as large has a normalised value of the same bits: the default is that of every norm.
inline void epsilon_times_four(Case& c) {
  const auto at = c.attributes.find("epsilon");
  c.attributes["epsilon"] = 4 * (at == c.attributes.end() ? 1e-5 : at->second);
}
// The row is doubled where these are.
inline Relation x_doubled(std::vector<Relation::Scaled> doubled) {
  return {.name = "x_doubled",
          .shows = "an epsilon that is not under the root, a threshold that the formula has not",
          .scaled = std::move(doubled),
          .change = epsilon_times_four,
          .applies = moderate};
}

}  // namespace assay::row_relations
