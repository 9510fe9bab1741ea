// SPDX-License-Identifier: Apache-2.0
// What the relations of several kinds of op are made of.
#pragma once

#include "validate/problem/relation.hpp"

namespace assay::relations {

using Applies = bool (*)(const Case&);

inline double attribute(const Case& c, const char* name, double standard = 0) {
  const auto at = c.attributes.find(name);
  return at == c.attributes.end() ? standard : at->second;
}

inline Relation permuted(std::string_view name, Axis axis, std::string_view shows, Applies applies = nullptr) {
  return {.name = name, .shows = shows, .move = Relation::Move::permuted, .axis = axis, .applies = applies};
}
// Of an axis that is summed over.
inline Relation summands_permuted(std::string_view name, Axis axis, std::string_view shows, Applies applies = nullptr) {
  Relation r = permuted(name, axis, shows, applies);
  r.bits = false;
  return r;
}
inline Relation first_part(std::string_view name, Axis axis, std::string_view shows, Applies applies = nullptr) {
  return {.name = name, .shows = shows, .move = Relation::Move::first_part, .axis = axis, .applies = applies};
}
// Outputs that are sums of what is moved.
inline Relation of_a_sum(Relation r, std::vector<std::string_view> sums) {
  r.loose = std::move(sums);
  return r;
}

// Values that a factor of two keeps far from overflow and underflow, in every square and sum of a row.
inline bool normal_values(const Case& c) { return c.fill == "normal"; }

// So that a row twice as large has a normalised value of the same bits: the default is that of every norm.
inline void epsilon_times_four(Case& c) { c.attributes["epsilon"] = 4 * attribute(c, "epsilon", 1e-5); }
// Of a norm; the row is doubled where these are.
inline Relation x_doubled(std::vector<Relation::Scaled> doubled, Applies applies = normal_values) {
  return {.name = "x_doubled",
          .shows = "an epsilon that is not under the root, a threshold that the formula has not",
          .scaled = std::move(doubled),
          .change = epsilon_times_four,
          .applies = applies};
}

}  // namespace assay::relations
