// SPDX-License-Identifier: Apache-2.0
// Relations of attention ops that no search finds, since 0 stands for the default scale.
#pragma once

#include <cmath>

#include "validate/problem/op.hpp"

namespace assay::attention_relations {

// Whether sequences are not packed, so that each index of the batch axis is one.
inline bool batch(const Case& c) { return attribute(c, "packed") == 0; }
inline bool unmasked(const Case& c) {
  return batch(c) && attribute(c, "mask") == 0 && attribute(c, "window") == 0 && attribute(c, "rope") == 0;
}
// Whether the keys that a query sees do not depend on the number of queries.  Note: they do with a window and no mask, which
// aligns the last query with the last key.
inline bool from_the_first_key(const Case& c) { return (batch(c) && attribute(c, "mask") == 2) || unmasked(c); }

// Values whose doubling neither overflows nor underflows in any sum.
inline bool normal_values(const Case& c) { return c.fill == "normal"; }

// The scale of a case; where none is given, the default.
inline double scale_of(const Case& c) {
  const double given = attribute(c, "scale");
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(c.dims[Axis::head_dim]));
}
// Halves the scale, so that scores stay the same when queries are doubled.
inline void half_scale(Case& c) { c.attributes["scale"] = scale_of(c) / 2; }
inline const Relation kQueryDoubled{.name = "query_doubled",
                                    .shows = "a scale applied twice, or to only part of the keys",
                                    .scaled = {{"q", 2}},
                                    .change = half_scale,
                                    .applies = normal_values};
// Summed::keep_attributes: the default scale depends on head_dim, so the problem with fewer channels gets the case's scale.
inline void keep_scale(const Case& c, Problem& p) { p.set_attribute("scale", scale_of(c)); }

}  // namespace assay::attention_relations
