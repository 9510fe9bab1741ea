// SPDX-License-Identifier: Apache-2.0
// Packed sequences (varlen): the batch * seq rows of a tensor [batch, seq, ...] are one list of tokens; sequence b has the tokens
// [starts[b], starts[b + 1]).  A sequence may be empty.
#pragma once

#include <cstdint>
#include <string>

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

// Checks that the starts begin at 0, never decrease and end at `tokens`, batch * seq.  So packed sequences have a multiple of
// batch tokens together: seq, their mean length, is an extent and thus whole.
inline Legality starts_legal(std::string_view name, const Tensor& starts, std::int64_t tokens) {
  const std::int64_t batch = starts.shape[0] - 1;
  for (std::int64_t b = 0; b <= batch; ++b) {
    const std::int64_t at = start_of(starts, b), least = b == 0 ? 0 : start_of(starts, b - 1), most = b == 0 ? 0 : tokens;
    const auto no = [&](const std::string& why) {
      return Legality::no(std::string(name) + "[" + std::to_string(b) + "] is " + std::to_string(at) + ", and the " + why);
    };
    if (at < least || at > most) return no("starts must rise from 0 to " + std::to_string(tokens));
    if (b == batch && at != tokens)
      return no("last start must be the number of tokens, batch x seq = " + std::to_string(tokens) +
                (at % batch ? "; no seq gives a number that batch does not divide" : ""));
  }
  return Legality::yes();
}

// Whether the first two axes can be merged into one of constant stride.
inline bool leading_axes_merge(const Tensor& t) { return t.shape[0] <= 1 || t.stride[0] == t.shape[1] * t.stride[1]; }

}  // namespace assay
