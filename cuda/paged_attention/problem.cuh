// SPDX-License-Identifier: Apache-2.0
// Kernel arguments of paged attention: the tensors, and the place of a position in the pools.
#pragma once

#include <bit>

#include "cuda/core/kernel.cuh"
#include "ops/paged_attention.hpp"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

// A tensor of heads; strides in elements, channels contiguous.
template <class T>
struct Heads {
  T* data;
  std::int64_t batch, seq, head;  // in a pool: page, slot, head
  __device__ T* of(std::int64_t b, std::int64_t position, std::int64_t h) const {
    return data + b * batch + position * seq + h * head;
  }
};

template <class T>
struct Problem {
  Heads<const T> q, k, v;     // [batch, seq_q, heads, head_dim], [pages, page_size, kv_heads, head_dim] twice
  Heads<T> o;                 // [batch, seq_q, heads, head_dim]
  Heads<float> lse;           // [batch, heads, seq_q]
  const std::int32_t* table;  // [batch, max_pages]
  const std::int32_t* lengths;
  std::int64_t table_stride;
  int batches, queries, heads, kv_heads, group, dim, page_size, max_pages;  // group: query heads per key/value head
  int page_bits;                                                            // log2 of page_size; -1: not a power of two
  float scale;

  // A query of a sequence of `length` positions sees keys [0, visible).
  __device__ int visible(int length, int query) const {
    const int end = length - queries + query + 1;
    return end < 0 ? 0 : end;
  }
  // The index in the page table of the page that holds a position.
  __device__ int entry(int position) const { return page_bits < 0 ? position / page_size : position >> page_bits; }
  __device__ const std::int32_t* table_of(int b) const { return table + b * table_stride; }
};

// Positions, and the rows of a sequence's queries, are ints.
inline Legality extents_fit(const paged_attention::Args& a) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (const std::int64_t extent : {a.q.shape[0], a.q.shape[1] * a.q.shape[2], a.q.shape[3], a.k_pool.shape[1]})
    if (extent > kMost) return Legality::no("an extent exceeds 2^30");
  if (a.page_table.shape[1] > kMost / a.k_pool.shape[1]) return Legality::no("a table has room for more than 2^30 positions");
  return Legality::yes();
}

template <class T>
Heads<T> heads_of(const Tensor& t) {
  return {t.as<std::remove_const_t<T>>(), t.stride[0], t.stride[1], t.stride[2]};
}

template <class T>
Problem<T> problem(const paged_attention::Args& a) {
  Problem<T> p{};
  p.q = heads_of<const T>(a.q);
  p.k = heads_of<const T>(a.k_pool);
  p.v = heads_of<const T>(a.v_pool);
  p.o = heads_of<T>(a.o);
  p.lse = {a.lse.as<float>(), a.lse.stride[0], a.lse.stride[2], a.lse.stride[1]};
  p.table = a.page_table.as<std::int32_t>();
  p.lengths = a.lengths.as<std::int32_t>();
  p.table_stride = a.page_table.stride[0];
  p.batches = static_cast<int>(a.q.shape[0]);
  p.queries = static_cast<int>(a.q.shape[1]);
  p.heads = static_cast<int>(a.q.shape[2]);
  p.kv_heads = static_cast<int>(a.k_pool.shape[2]);
  p.group = p.heads / p.kv_heads;
  p.dim = static_cast<int>(a.q.shape[3]);
  p.page_size = static_cast<int>(a.k_pool.shape[1]);
  p.max_pages = static_cast<int>(a.page_table.shape[1]);
  const auto size = static_cast<unsigned>(p.page_size);
  p.page_bits = std::has_single_bit(size) ? std::countr_zero(size) : -1;
  p.scale = static_cast<float>(a.scale_used());
  return p;
}

inline bool nothing_to_do(const paged_attention::Args& a) { return a.q.shape[0] == 0 || a.q.shape[1] == 0; }

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
