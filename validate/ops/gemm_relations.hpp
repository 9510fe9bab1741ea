// SPDX-License-Identifier: Apache-2.0
// Relations of ops that are a product of tokens [tokens, hidden] with weights [features, hidden].
#pragma once

#include "validate/relation.hpp"

namespace assay::gemm_relations {

using Move = Relation::Move;

inline const Relation kTokensPermuted{.name = "tokens_permuted",
                                      .shows = "a token whose result depends on its place in a tile",
                                      .move = Move::permuted,
                                      .axis = Axis::tokens};
inline const Relation kFirstTokens{.name = "first_tokens",
                                   .shows = "a token whose result depends on how many there are",
                                   .move = Move::first_part,
                                   .axis = Axis::tokens};
inline const Relation kChannelsPermuted{.name = "channels_permuted",
                                        .shows = "a channel that is not added, or that meets another's weight",
                                        .move = Move::permuted,
                                        .axis = Axis::hidden,
                                        .bits = false};
inline Relation features_permuted(Axis features) {
  return {.name = "features_permuted",
          .shows = "a feature whose result depends on its place in a tile",
          .move = Move::permuted,
          .axis = features};
}

// Values that a factor of two keeps far from overflow and underflow, in every product and sum.
inline bool moderate(const Case& c) { return c.fill == "normal" || c.fill == "unit"; }

}  // namespace assay::gemm_relations
