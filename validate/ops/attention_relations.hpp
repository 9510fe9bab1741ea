// SPDX-License-Identifier: Apache-2.0
// Relations of ops in which queries see keys.
#pragma once

#include <cmath>

#include "validate/relation.hpp"

namespace assay::attention_relations {

using Move = Relation::Move;

inline double attribute(const Case& c, const char* name) {
  const auto at = c.attributes.find(name);
  return at == c.attributes.end() ? 0 : at->second;
}
// Its sequences are those that the axes name, and not packed ones.
inline bool batch(const Case& c) { return attribute(c, "packed") == 0; }
inline bool unmasked(const Case& c) {
  return batch(c) && attribute(c, "mask") == 0 && attribute(c, "window") == 0 && attribute(c, "rope") == 0;
}
// Which keys a query sees does not depend on how many queries there are.  Note: without a mask a window lies bottom-right.
inline bool from_the_first_key(const Case& c) { return (batch(c) && attribute(c, "mask") == 2) || unmasked(c); }

inline const Relation kBatchPermuted{.name = "batch_permuted",
                                     .shows = "a sequence that reads another's queries or keys",
                                     .move = Move::permuted,
                                     .axis = Axis::batch,
                                     .applies = batch};
inline const Relation kFirstSequences{.name = "first_sequences",
                                      .shows = "a sequence whose result depends on how many there are",
                                      .move = Move::first_part,
                                      .axis = Axis::batch,
                                      .applies = batch};
inline const Relation kHeadsPermuted{
    .name = "heads_permuted", .shows = "a query head that reads another's keys", .move = Move::permuted, .axis = Axis::kv_heads};
inline const Relation kQueriesPermuted{.name = "queries_permuted",
                                       .shows = "a query whose result depends on its place in a tile",
                                       .move = Move::permuted,
                                       .axis = Axis::seq_q,
                                       .applies = unmasked};
// Of a causal problem aligned top-left this is the prefix property.
inline const Relation kFirstQueries{.name = "first_queries",
                                    .shows = "a query whose result depends on later ones",
                                    .move = Move::first_part,
                                    .axis = Axis::seq_q,
                                    .applies = from_the_first_key};
inline const Relation kKeysPermuted{.name = "keys_permuted",
                                    .shows = "a key that is not counted, or that has another's value",
                                    .move = Move::permuted,
                                    .axis = Axis::seq_k,
                                    .bits = false,
                                    .applies = unmasked};

// The scale that the case means, by number.
inline double scale_of(const Case& c) {
  const double given = attribute(c, "scale");
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(c.dims[Axis::head_dim]));
}
// Beside queries that are doubled.
inline void half_scale(Case& c) { c.attributes["scale"] = scale_of(c) / 2; }

}  // namespace assay::attention_relations
