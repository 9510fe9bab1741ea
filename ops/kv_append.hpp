// SPDX-License-Identifier: Apache-2.0
// Appends new keys and values of each sequence to the pages of a K/V cache:
//   k_pool[page_table[b, p / page_size], p % page_size] = k[b, i],  p = lengths[b] - seq_q + i;  v_pool likewise
//
// lengths[b] includes the new positions.  A row with p < 0 is skipped, so a sequence with fewer than seq_q new rows has them
// last.  All other elements of the pools keep their value.  The copy is bitwise, NaN and inf included.  Two rows with the same
// slot are illegal, so a page that is written belongs to one sequence; other pages may be shared.  Unused table entries may hold
// anything.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/core/page_table.hpp"

namespace assay {

struct kv_append {
  struct Args {
    Tensor k;           // [batch, seq_q, kv_heads, head_dim]
    Tensor v;           // [batch, seq_q, kv_heads, head_dim]
    Tensor page_table;  // [batch, max_pages], i32
    Tensor lengths;     // [batch], i32
    Tensor k_pool;      // [pages, page_size, kv_heads, head_dim], some rows written
    Tensor v_pool;      // [pages, page_size, kv_heads, head_dim], some rows written

    PageTable table() const { return {page_table, lengths, k_pool.shape[0], k_pool.shape[1]}; }
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0},     {Axis::seq_q, 0},    {Axis::pages, 1},   {Axis::page_size, 1},
                                     {Axis::max_pages, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    const AxisList rows = {Axis::batch, Axis::seq_q, Axis::kv_heads, Axis::head_dim};
    const AxisList pool = {Axis::pages, Axis::page_size, Axis::kv_heads, Axis::head_dim};
    v.input("k", a.k, rows);
    v.input("v", a.v, rows);
    v.input("page_table", a.page_table, {Axis::batch, Axis::max_pages}, {.dtype = i32, .holds = pages_by("lengths")});
    v.input("lengths", a.lengths, {Axis::batch}, {.dtype = i32, .holds = lengths_in_pages()});
    v.output("k_pool", a.k_pool, pool, {.updated = true});
    v.output("v_pool", a.v_pool, pool, {.updated = true});
  }

  // Reads lengths and page_table, which are in host memory.
  static Legality legal(const Args& a) {
    if (!a.page_table.data || !a.lengths.data) return Legality::yes();
    std::vector<std::int64_t> slots;
    for (std::int64_t b = 0; b < a.k.shape[0]; ++b)
      for (std::int64_t length = a.table().length(b), p = std::max<std::int64_t>(0, length - a.k.shape[1]); p < length; ++p)
        slots.push_back(a.table().row(b, p));
    std::sort(slots.begin(), slots.end());
    const auto twice = std::adjacent_find(slots.begin(), slots.end());
    if (twice == slots.end()) return Legality::yes();
    return Legality::no("slot " + std::to_string(*twice % a.k_pool.shape[1]) + " of page " +
                        std::to_string(*twice / a.k_pool.shape[1]) + " is written to twice");
  }

  // Reads the new rows, their table entries and the lengths, writes the rows; every sequence is counted with seq_q rows.
  static Cost cost(const Args& a) {
    const double rows = static_cast<double>(a.k.bytes() + a.v.bytes());
    const double entries = static_cast<double>(a.k.shape[0] * ((a.k.shape[1] + a.k_pool.shape[1] - 1) / a.k_pool.shape[1]));
    const double tables = 4 * entries + static_cast<double>(a.lengths.bytes());
    return {.flops = 0, .bytes_read = rows + tables, .bytes_written = rows, .unfused_bytes = 2 * rows + 2 * tables};
  }
};

}  // namespace assay
