// SPDX-License-Identifier: Apache-2.0
// Relations of ops in which queries see keys.
#pragma once

#include <cmath>

#include "validate/ops/relations.hpp"
#include "validate/problem/op.hpp"

namespace assay::attention_relations {

using relations::attribute;

// Its sequences are those that the axes name, and not packed ones.
inline bool batch(const Case& c) { return attribute(c, "packed") == 0; }
inline bool unmasked(const Case& c) {
  return batch(c) && attribute(c, "mask") == 0 && attribute(c, "window") == 0 && attribute(c, "rope") == 0;
}
// Which keys a query sees does not depend on how many queries there are.  Note: without a mask a window lies bottom-right.
inline bool from_the_first_key(const Case& c) { return (batch(c) && attribute(c, "mask") == 2) || unmasked(c); }

inline const Relation kBatchPermuted =
    relations::permuted("batch_permuted", Axis::batch, "a sequence that reads another's queries or keys", batch);
inline const Relation kFirstSequences =
    relations::first_part("first_sequences", Axis::batch, "a sequence whose result depends on how many there are", batch);
inline const Relation kHeadsPermuted =
    relations::permuted("heads_permuted", Axis::kv_heads, "a query head that reads another's keys");
inline const Relation kQueriesPermuted =
    relations::permuted("queries_permuted", Axis::seq_q, "a query whose result depends on its place in a tile", unmasked);
// Of a causal problem aligned top-left this is the prefix property.
inline const Relation kFirstQueries =
    relations::first_part("first_queries", Axis::seq_q, "a query whose result depends on later ones", from_the_first_key);
inline const Relation kKeysPermuted = relations::summands_permuted(
    "keys_permuted", Axis::seq_k, "a key that is not counted, or that has another's value", unmasked);

// The scale that the case means, by number.
inline double scale_of(const Case& c) {
  const double given = attribute(c, "scale");
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(c.dims[Axis::head_dim]));
}
// Beside queries that are doubled.
inline void half_scale(Case& c) { c.attributes["scale"] = scale_of(c) / 2; }
// Of a problem with fewer channels.
inline void scale_as_before(const Case& c, Problem& p) { p.set_attribute("scale", scale_of(c)); }

}  // namespace assay::attention_relations
