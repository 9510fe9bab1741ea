// SPDX-License-Identifier: Apache-2.0
#include "ops/kv_append.hpp"

#include "reference/formula/linked_formula.hpp"

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
