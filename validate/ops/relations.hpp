// SPDX-License-Identifier: Apache-2.0
// Building blocks of relations.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validate/problem/relation.hpp"

namespace assay::relations {

using Applies = bool (*)(const Case&);

inline Relation permuted(std::string_view name, Axis axis, std::string_view shows, Applies applies = nullptr) {
  return {.name = name, .shows = shows, .move = Relation::Move::permuted, .axis = axis, .applies = applies};
}
// Permutes an axis that is summed over, so bits may change.
inline Relation summands_permuted(std::string_view name, Axis axis, std::string_view shows, Applies applies = nullptr) {
  Relation r = permuted(name, axis, shows, applies);
  r.bits = false;
  return r;
}
inline Relation first_part(std::string_view name, Axis axis, std::string_view shows, Applies applies = nullptr) {
  return {.name = name, .shows = shows, .move = Relation::Move::first_part, .axis = axis, .applies = applies};
}
// The relations of an axis by its name: AXIS_permuted, and first_AXIS of an axis without sums.
struct AxisTexts {
  std::string permuted, first, place, term, extent;
};
inline const AxisTexts& texts_of(const Axis& axis) {
  static std::map<std::string, AxisTexts, std::less<>> of_all;
  const std::string n(axis.name);
  const auto [at, is_new] = of_all.try_emplace(n);
  if (is_new)
    at->second = {n + "_permuted", "first_" + n, "a result that depends on its place along " + n,
                  "a term of " + n + " dropped or added twice", "a result that depends on the extent of " + n};
  return at->second;
}
inline Relation along(Axis axis, bool summed) {
  const AxisTexts& texts = texts_of(axis);
  return summed ? summands_permuted(texts.permuted, axis, texts.term) : permuted(texts.permuted, axis, texts.place);
}
inline Relation first_along(Axis axis) { return first_part(texts_of(axis).first, axis, texts_of(axis).extent); }

// Names outputs that sum over the moved axis, whose bits may change.
inline Relation of_a_sum(Relation r, std::vector<std::string_view> sums) {
  r.within_bounds = std::move(sums);
  return r;
}

// Values whose doubling neither overflows nor underflows in any square or sum of a row.
inline bool normal_values(const Case& c) { return c.fill == "normal"; }

// With four times the epsilon, a doubled row has the same normalised bits.  1e-5 is the default of every norm.
inline void epsilon_times_four(Case& c) { c.attributes["epsilon"] = 4 * attribute(c, "epsilon", 1e-5); }
// For norms: doubles these tensors, of which the normalised row is made.
inline Relation x_doubled(std::vector<Relation::Scaled> doubled, Applies applies = normal_values) {
  return {.name = "x_doubled",
          .shows = "an epsilon outside the root, a threshold",
          .scaled = std::move(doubled),
          .change = epsilon_times_four,
          .applies = applies};
}

}  // namespace assay::relations
