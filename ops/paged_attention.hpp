// SPDX-License-Identifier: Apache-2.0
// Attention of the newest tokens of each sequence over a paged cache:  O = softmax(scale Q K^T + mask) V,  L = logsumexp
//
// Position p of sequence b is in slot p % page_size of page page_table[b, p / page_size] (Kwon et al. 2023, arXiv 2309.06180).
// lengths[b] counts the positions, those of the queries included: query i has position lengths[b] - seq_q + i and sees keys up to
// it.  A query at a negative position, or whose visible scores are all -inf, gets O = 0 and L = -inf.  A score that is NaN or
// +inf makes the O and L of its query NaN.  Unused table entries, pages and slots may hold anything.  Query head h reads
// key/value head h / (heads / kv_heads); scale 0 means 1/sqrt(head_dim).
#pragma once

#include "ops/core/clamped_sum.hpp"
#include "ops/core/contract.hpp"
#include "ops/core/page_table.hpp"

namespace assay {

struct paged_attention {
  struct Args {
    Tensor q;           // [batch, seq_q, heads, head_dim]
    Tensor k_pool;      // [pages, page_size, kv_heads, head_dim]
    Tensor v_pool;      // [pages, page_size, kv_heads, head_dim]
    Tensor page_table;  // [batch, max_pages], i32
    Tensor lengths;     // [batch], i32
    Tensor o;           // [batch, seq_q, heads, head_dim], written
    Tensor lse;         // [batch, heads, seq_q], f32, written
    double scale = 0;

    double scale_used() const { return scale == 0 ? 1 / std::sqrt(static_cast<double>(q.shape[3])) : scale; }
    PageTable table() const { return {page_table, lengths, k_pool.shape[0], k_pool.shape[1]}; }
    // A query of a sequence of `length` positions sees keys [0, visible).
    std::int64_t visible(std::int64_t length, std::int64_t query) const {
      return std::clamp<std::int64_t>(length - q.shape[1] + query + 1, 0, length);
    }
  };

  static constexpr AxisUse axes[] = {{Axis::batch, 0},     {Axis::seq_q, 0}, {Axis::pages, 1},    {Axis::page_size, 1},
                                     {Axis::max_pages, 1}, {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    const AxisList pool = {Axis::pages, Axis::page_size, Axis::kv_heads, Axis::head_dim};
    v.input("q", a.q, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.input("k_pool", a.k_pool, pool);
    v.input("v_pool", a.v_pool, pool);
    v.input("page_table", a.page_table, {Axis::batch, Axis::max_pages}, {.dtype = i32, .holds = pages_by("lengths")});
    v.input("lengths", a.lengths, {Axis::batch}, {.dtype = i32, .holds = lengths_in_pages()});
    v.output("o", a.o, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.output("lse", a.lse, {Axis::batch, Axis::heads, Axis::seq_q}, {.dtype = f32});
    v.attribute("scale", a.scale, 0.0);
  }

  static Legality legal(const Args& a) {
    if (!(a.scale >= 0) || !std::isfinite(a.scale)) return Legality::no("scale must be finite and not negative");
    if (a.q.shape[2] % a.k_pool.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    return Legality::yes();
  }

  // The query (row of O) that an element of O or of L belongs to.
  static std::int64_t row_of(const Args& a, int output, std::int64_t i) {
    if (output == 0) return i / a.q.shape[3];
    const std::int64_t queries = a.q.shape[1], heads = a.q.shape[2], batch = i / (heads * queries);
    return (batch * queries + i % queries) * heads + i / queries % heads;
  }

  // Reads Q, the tables and the rows of K and V in use (shared pages once per sequence), writes O and L.  A visible pair costs
  // 2 head_dim operations for its score and 2 head_dim for O.  Unfused, keys and values are first gathered into contiguous
  // tensors, and the scores and the probabilities are written and read once each.  Without the lengths' data every table is
  // taken to be full.
  static Cost cost(const Args& a) {
    double positions = 0, pairs = 0;
    const auto add = [&](std::int64_t length, double sequences) {
      positions += sequences * static_cast<double>(length);
      pairs += sequences * clamped_sum(a.q.shape[1], length - a.q.shape[1] + 1, length);
    };
    if (!a.lengths.data) add(a.page_table.shape[1] * a.k_pool.shape[1], static_cast<double>(a.q.shape[0]));  // all are full
    for (std::int64_t b = 0; a.lengths.data && b < a.q.shape[0]; ++b) add(a.table().length(b), 1);
    const double heads = static_cast<double>(a.q.shape[2]), dim = static_cast<double>(a.q.shape[3]);
    const double rows = 2 * positions * static_cast<double>(a.k_pool.shape[2]) * dim * size_of(a.q.dtype);  // of K and V
    const double tables = positions / static_cast<double>(a.k_pool.shape[1]) * 4 + static_cast<double>(a.lengths.bytes());
    const double written = static_cast<double>(a.o.bytes() + a.lse.bytes()), q = static_cast<double>(a.q.bytes());
    return {.flops = 4 * pairs * heads * dim,
            .bytes_read = q + tables + rows,
            .bytes_written = written,
            .unfused_bytes = q + tables + written + 3 * rows + 4 * pairs * heads * size_of(a.q.dtype)};
  }
};

}  // namespace assay
