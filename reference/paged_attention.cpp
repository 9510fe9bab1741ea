// SPDX-License-Identifier: Apache-2.0
#include "ops/paged_attention.hpp"

#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::paged_attention::Args& a, Formula& f) {
  const Axis table("max_pages"), slots("page_size"), seq_q("seq_q");
  const Array length = f.in("lengths"), first_key = f.index(table) * static_cast<double>(f.extent(slots));
  const Array page = where(first_key < length, f.in("page_table"), 0);  // other entries may hold anything
  const auto cached = [&](const char* pool) { return of_shared_heads(f, take(f.in(pool), Axis("pages"), page)); };
  const Array products = sum(Axis("head_dim"))(f.in("q") * cached("k_pool")) * a.scale_used();
  const Array key = first_key + f.index(slots), query = length - static_cast<double>(f.extent(seq_q)) + f.index(seq_q);
  const Array scores = where(key <= query, step("scores", products), -INFINITY);
  put_out_attention(f, {table, slots}, scores, cached("v_pool"), false);
}

static const LinkedFormula<assay::paged_attention> formula_of_paged_attention("paged_attention", write);

}  // namespace assay::formula
