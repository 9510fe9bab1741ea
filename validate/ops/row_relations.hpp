// SPDX-License-Identifier: Apache-2.0
// Relations of ops on rows [rows, cols].
#pragma once

#include "validate/ops/relations.hpp"

namespace assay::row_relations {

using relations::normal_values;
using relations::x_doubled;

inline const Relation kRowsPermuted =
    relations::permuted("rows_permuted", Axis::rows, "a row whose result depends on its place in a block");
inline const Relation kFirstRows =
    relations::first_part("first_rows", Axis::rows, "a row whose result depends on the number of rows");
// For ops without sums.
inline const Relation kColsPermuted =
    relations::permuted("cols_permuted", Axis::cols, "an element whose result depends on its place in a pack or a row");
// For ops that sum over the columns.
inline Relation summands_permuted(std::string_view shows) {
  return relations::summands_permuted("cols_permuted", Axis::cols, shows);
}

// For norms.
inline const Relation kGammaDoubled{
    .name = "gamma_doubled", .shows = "clamping", .scaled = {{"gamma", 2}, {"y", 2}}, .applies = normal_values};
inline const Relation kAffineDoubled{
    .name = "affine_doubled", .shows = "clamping", .scaled = {{"gamma", 2}, {"beta", 2}, {"y", 2}}, .applies = normal_values};

}  // namespace assay::row_relations
