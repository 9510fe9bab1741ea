// SPDX-License-Identifier: Apache-2.0
// Relations of ops that multiply tokens [tokens, hidden] by weights [features, hidden].
#pragma once

#include "validate/ops/relations.hpp"

namespace assay::gemm_relations {

inline const Relation kTokensPermuted =
    relations::permuted("tokens_permuted", Axis::tokens, "a token whose result depends on its place in a tile");
inline const Relation kFirstTokens =
    relations::first_part("first_tokens", Axis::tokens, "a token whose result depends on the number of tokens");
inline const Relation kChannelsPermuted =
    relations::summands_permuted("channels_permuted", Axis::hidden, "a skipped channel, or one with another's weight");
inline Relation features_permuted(Axis features) {
  return relations::permuted("features_permuted", features, "a feature whose result depends on its place in a tile");
}

// Values whose doubling neither overflows nor underflows in any product or sum.
inline bool moderate(const Case& c) { return c.fill == "normal" || c.fill == "unit"; }

// Excludes f16: a kernel may round a row's mean and gamma w to the dtype (Numerics::rounds_weights), and some of these are below
// f16's normal range, where roundings do not scale with the values.
inline bool far_from_underflow(const Case& c) { return moderate(c) && c.dtype != f16; }

}  // namespace assay::gemm_relations
