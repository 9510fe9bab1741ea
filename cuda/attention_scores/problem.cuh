// SPDX-License-Identifier: Apache-2.0
// Kernel arguments of this room.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/attention_scores.hpp"

namespace assay::ASSAY_FLAVOUR::attention_scores_room {

// A tensor of four axes, the last one contiguous; strides in elements.
template <class T>
struct Strided {
  T* data;
  std::int64_t stride[3];
  __device__ T* at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return data + i * stride[0] + j * stride[1] + k * stride[2];
  }
};
template <class T>
Strided<T> strided(const Tensor& t) {
  return {t.as<T>(), {t.stride[0], t.stride[1], t.stride[2]}};
}

template <class T>
struct Problem {
  Strided<const T> q;  // [batch, seq_q, heads, head_dim]
  Strided<const T> k;  // [batch, seq_k, kv_heads, head_dim]
  Strided<T> p;        // [batch, heads, seq_q, seq_k]
  std::int64_t batch, seq_q, seq_k;
  int heads, group, dim;  // group: query heads per key head
  float scale;
  std::int64_t above;  // query i sees keys 0 ... i + above
  __host__ __device__ std::int64_t visible(std::int64_t query) const {
    const std::int64_t n = query + 1 + above;
    return n < 0 ? 0 : n < seq_k ? n : seq_k;
  }
};

template <class T>
Problem<T> problem(const attention_scores::Args& a) {
  using Mask = attention_scores::Mask;
  const std::int64_t seq_q = a.q.shape[1], seq_k = a.k.shape[1];
  return {strided<const T>(a.q),
          strided<const T>(a.k),
          strided<T>(a.p),
          a.q.shape[0],
          seq_q,
          seq_k,
          static_cast<int>(a.q.shape[2]),
          static_cast<int>(a.q.shape[2] / a.k.shape[2]),
          static_cast<int>(a.q.shape[3]),
          static_cast<float>(a.scale_used()),
          a.mask == Mask::none     ? seq_k
          : a.mask == Mask::causal ? seq_k - seq_q
                                   : 0};
}

// The query that a row of P belongs to.
struct Query {
  std::int64_t batch, query;
  int head;
};
template <class T>
__device__ inline Query query_of(const Problem<T>& m, std::int64_t row) {
  return {row / m.seq_q / m.heads, row % m.seq_q, static_cast<int>(row / m.seq_q % m.heads)};
}

}  // namespace assay::ASSAY_FLAVOUR::attention_scores_room
