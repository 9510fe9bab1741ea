// SPDX-License-Identifier: Apache-2.0
// Golden addition in f64: exact for f16 and bf16 unless the exponents differ by more than 29; for f32 rounded once, to f64.
#include "ops/add.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const add::Args& a, add::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.y.shape[1];

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t first = rows[k] * cols;
    Eigen::Map<Eigen::ArrayXd>(g.y.data() + first, cols) = load(a.a, first, cols) + load(a.b, first, cols);
  }
}

// Each thread has a row of a and one of b.
double scratch(const add::Args& a, const Rows& rows) { return scratch_of_rows(rows, 2 * static_cast<double>(a.y.shape[1])); }

static const LinkedGolden<add> linked_add(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::add::Args&, Formula& f) { f.out("y", f.in("a") + f.in("b")); }

static const LinkedFormula<assay::add> formula_of_add("add", write);

}  // namespace assay::formula
