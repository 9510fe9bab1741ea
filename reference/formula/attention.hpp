// SPDX-License-Identifier: Apache-2.0
// Attention in formulas: where queries and keys stand in their sequences, and which keys a query sees.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "reference/formula/formula.hpp"

namespace assay::formula {

// What the query heads have of k or v: heads in groups share one.
inline Array of_shared_heads(Formula& f, const Array& x) {
  const Axis heads("heads"), kv_heads("kv_heads");
  return take(x, kv_heads, quotient(f.index(heads), static_cast<double>(f.extent(heads) / f.extent(kv_heads))));
}

// Puts out o, the mean of values by the softmax of scores, and lse, the logarithm of their sum.  A score that is +inf makes both
// NaN, unless a cap leaves none.
inline void put_out_attention(Formula& f, const std::vector<Axis>& keys, const Array& scores, const Array& values, bool capped) {
  f.out("o", sum(keys)(softmax_or_zero(keys)(scores) * values));
  const Array top = max(keys)(scores), log_sum = logsumexp(keys)(scores);
  f.out("lse", capped ? log_sum : where(top < std::numeric_limits<double>::infinity(), log_sum, top - top));
}

// Of q [batch, seq_q, heads, head_dim] and k [batch, seq_k, kv_heads, head_dim], or of sequences packed one after the other,
// whose starts are cu_seqlens_q and cu_seqlens_k.
class Attention {
 public:
  enum class Mask { none, causal, causal_top_left };  // as in the contracts
  // A window of w hides the keys more than w - 1 before the query's place; 0: no window.
  Attention(Formula& f, bool packed, Mask mask, double window)
      : f_(f), query_(f.index(Axis("seq_q"))), key_(f.index(Axis("seq_k"))), own_key_(key_) {
    const auto queries = static_cast<double>(f.extent(Axis("seq_q"))), keys = static_cast<double>(f.extent(Axis("seq_k")));
    if (packed) place_packed(mask, queries, keys);
    else if (mask != Mask::causal_top_left) query_ = keys - (queries - query_);
    if (mask != Mask::none) also_seen_if(key_ <= query_);
    if (window != 0) also_seen_if(key_ > query_ - window);
  }

  // The axes along which a query has keys.
  const std::vector<Axis>& keys() const { return keys_axes_; }
  // The place of a query among the keys of its sequence, aligned at their start or at their end; that of a key in its own.
  const Array& place_of_query() const { return query_; }
  const Array& place_of_key() const { return own_key_; }
  // The scores of keys that a query sees, and -inf elsewhere.
  Array masked(const Array& scores) const {
    return seen_ ? where(*seen_, scores, -std::numeric_limits<double>::infinity()) : scores;
  }
  // Whether a query sees a key; none: always.
  const std::optional<Array>& seen() const { return seen_; }

 private:
  void also_seen_if(const Array& condition) { seen_ = seen_ ? *seen_ && condition : condition; }

  // Keys of packed sequences have a batch axis of their own, since queries of other rows may see them.
  void place_packed(Mask mask, double queries, double keys) {
    const Axis batch("batch"), key_batch("key_batch"), starts("batch+1");
    for (const char* name : {"k", "v"}) f_.rename(name, batch, key_batch);
    keys_axes_.push_back(key_batch);
    const Array starts_q = f_.in("cu_seqlens_q"), starts_k = f_.in("cu_seqlens_k");
    const Array token = f_.index(batch) * queries + query_, key_token = f_.index(key_batch) * keys + key_;
    const auto sequence_of = [&](const Array& of, const Array& starts_of) { return sum(starts)(starts_of <= of) - 1; };
    const auto first_of = [&](const Array& starts_of, const Array& sequence) { return take(starts_of, starts, sequence); };
    const Array sequence = sequence_of(token, starts_q);
    const Array first_key = first_of(starts_k, sequence), count = first_of(starts_k, sequence + 1) - first_key;
    const Array queries_left = first_of(starts_q, sequence + 1) - token;  // of its sequence, the query included
    query_ = mask == Mask::causal_top_left ? token - first_of(starts_q, sequence) : count - queries_left;
    key_ = key_token - first_key;
    own_key_ = key_token - first_of(starts_k, sequence_of(key_token, starts_k));
    also_seen_if(key_ >= 0);
    if (mask != Mask::causal) also_seen_if(key_ < count);
  }

  Formula& f_;
  Array query_, key_, own_key_;
  std::vector<Axis> keys_axes_{Axis("seq_k")};
  std::optional<Array> seen_;
};

}  // namespace assay::formula
