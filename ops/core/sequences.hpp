// SPDX-License-Identifier: Apache-2.0
// Packed sequences (varlen): the batch * seq rows of a tensor [batch, seq, ...] are one list of tokens; sequence b has the tokens
// [starts[b], starts[b + 1]).  A sequence may be empty.
#pragma once

#include <cstdint>

#include "ops/core/contract.hpp"

namespace assay {

// Rows of q and o, and of k and v, that belong to one sequence, counted over the whole batch.
struct Sequence {
  std::int64_t first_query, queries, first_key, keys;
};

// starts: [batch + 1], in host memory.
inline std::int64_t start_of(const Tensor& starts, std::int64_t sequence) {
  return static_cast<std::int64_t>(starts.at(sequence));
}

inline Sequence packed_sequence(const Tensor& q_starts, const Tensor& k_starts, std::int64_t b) {
  const std::int64_t query = start_of(q_starts, b), key = start_of(k_starts, b);
  return {query, start_of(q_starts, b + 1) - query, key, start_of(k_starts, b + 1) - key};
}

// Whether the first two axes can be merged into one of constant stride.
inline bool leading_axes_merge(const Tensor& t) { return t.shape[0] <= 1 || t.stride[0] == t.shape[1] * t.stride[1]; }

}  // namespace assay
