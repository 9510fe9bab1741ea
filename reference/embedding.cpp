// SPDX-License-Identifier: Apache-2.0
// Golden embedding: rows of the table, copied.
#include "ops/embedding.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const embedding::Args& a, embedding::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.y.shape[1];

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const auto id = static_cast<std::int64_t>(a.ids.at(rows[k]));
    Eigen::Map<Eigen::ArrayXd>(g.y.data() + rows[k] * hidden, hidden) = load(a.table, id * hidden, hidden);
  }
}

// Each thread has a row of the table.
double scratch(const embedding::Args& a, const Rows& rows) { return scratch_of_rows(rows, static_cast<double>(a.y.shape[1])); }

static const LinkedGolden<embedding> linked_embedding(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::embedding::Args&, Formula& f) { f.out("y", take(f.in("table"), Axis("vocab"), f.in("ids"))); }

static const LinkedFormula<assay::embedding> formula_of_embedding("embedding", write);

}  // namespace assay::formula
