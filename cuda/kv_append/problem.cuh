// SPDX-License-Identifier: Apache-2.0
// Kernel arguments of kv_append: the new rows, and their places in the pools.
#pragma once

#include "cuda/core/kernel.cuh"
#include "ops/kv_append.hpp"

namespace assay::ASSAY_FLAVOUR::kv_append_room {

// Strides in elements, channels contiguous.
template <class T>
struct Problem {
  const T *k, *v;             // [batch, seq_q, kv_heads, head_dim], equal strides
  T *k_pool, *v_pool;         // [pages, page_size, kv_heads, head_dim], equal strides
  const std::int32_t* table;  // [batch, max_pages]
  const std::int32_t* lengths;
  std::int64_t table_stride, batch_stride, row_stride, head_stride;  // of k and v
  std::int64_t page_stride, slot_stride, pool_head_stride;
  int rows, kv_heads, dim, page_size;  // rows: new rows per sequence

  // Offset of the first head of new row i of sequence b in a pool; negative: the row is skipped.
  __device__ std::int64_t place(std::int64_t b, int i) const {
    const int position = ld(lengths + b) - rows + i;
    if (position < 0) return -1;
    const std::int64_t page = ld(table + b * table_stride + position / page_size);
    return page * page_stride + position % page_size * slot_stride;
  }
};

inline Legality extents_fit(const kv_append::Args& a) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  for (const std::int64_t extent : {a.k.shape[1], a.k.shape[2] * a.k.shape[3], a.k_pool.shape[1]})
    if (extent > kMost) return Legality::no("an extent exceeds 2^30");
  if (a.page_table.shape[1] > kMost / a.k_pool.shape[1]) return Legality::no("a table has room for more than 2^30 positions");
  if (a.k.stride != a.v.stride || a.k_pool.stride != a.v_pool.stride) return Legality::no("K and V are laid out differently");
  return Legality::yes();
}

template <class T>
Problem<T> problem(const kv_append::Args& a) {
  return {.k = a.k.as<T>(),
          .v = a.v.as<T>(),
          .k_pool = a.k_pool.as<T>(),
          .v_pool = a.v_pool.as<T>(),
          .table = a.page_table.as<std::int32_t>(),
          .lengths = a.lengths.as<std::int32_t>(),
          .table_stride = a.page_table.stride[0],
          .batch_stride = a.k.stride[0],
          .row_stride = a.k.stride[1],
          .head_stride = a.k.stride[2],
          .page_stride = a.k_pool.stride[0],
          .slot_stride = a.k_pool.stride[1],
          .pool_head_stride = a.k_pool.stride[2],
          .rows = static_cast<int>(a.k.shape[1]),
          .kv_heads = static_cast<int>(a.k.shape[2]),
          .dim = static_cast<int>(a.k.shape[3]),
          .page_size = static_cast<int>(a.k_pool.shape[1])};
}

}  // namespace assay::ASSAY_FLAVOUR::kv_append_room
