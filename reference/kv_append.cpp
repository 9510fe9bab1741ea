// SPDX-License-Identifier: Apache-2.0
// Golden kv_append: copies the pools, then writes the new rows into their pages.
#include "ops/kv_append.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const kv_append::Args& a, kv_append::Golden& g, const Rows& rows) {
  const std::int64_t queries = a.k.shape[1], kv_heads = a.k.shape[2], dim = a.k.shape[3];
  const auto copy = [&](const Tensor& from, std::int64_t row, const Array& to, std::int64_t to_row, std::int64_t count) {
    Eigen::Map<Eigen::ArrayXd>(to.data() + to_row * dim, count * dim) = load(from, row * dim, count * dim);
  };
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    copy(a.k_pool, rows[k], g.k_pool, rows[k], 1);
    copy(a.v_pool, rows[k], g.v_pool, rows[k], 1);
  }

  for (std::int64_t b = 0; b < a.k.shape[0]; ++b)
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::int64_t position = a.table().length(b) - queries + i;
      if (position < 0) continue;
      const std::int64_t from = (b * queries + i) * kv_heads, to = a.table().row(b, position) * kv_heads;
      copy(a.k, from, g.k_pool, to, kv_heads);
      copy(a.v, from, g.v_pool, to, kv_heads);
    }
}

// Each thread has a row of a pool, or those of a new position.
double scratch(const kv_append::Args& a, const Rows& rows) {
  return scratch_of_rows(rows, static_cast<double>(a.k.shape[2] * a.k.shape[3]));
}

static const LinkedGolden<kv_append> linked_kv_append(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::kv_append::Args&, Formula& f) {
  const Axis max_pages("max_pages"), slots("slots");
  const auto page_size = static_cast<double>(f.extent(Axis("page_size")));
  const Array position = f.in("lengths") - static_cast<double>(f.extent(Axis("seq_q"))) + f.index(Axis("seq_q"));
  const Array entry = quotient(maximum(position, 0), page_size);
  const Array page = take(f.in("page_table"), max_pages, entry);
  const Array slot = where(position < 0, -1, page * page_size + position - entry * page_size);
  f.index(slots, f.extent(Axis("pages")) * f.extent(Axis("page_size")));
  const Array place = f.index(Axis("pages")) * page_size + f.index(Axis("page_size"));
  const Array is_new = take(put(1, slots, slot), slots, place);
  for (const auto& [rows, pool] : {std::pair{"k", "k_pool"}, std::pair{"v", "v_pool"}})
    f.out(pool, where(is_new, take(put(f.in(rows), slots, slot), slots, place), f.in(pool)));
}

static const LinkedFormula<assay::kv_append> formula_of_kv_append("kv_append", write);

}  // namespace assay::formula
