// SPDX-License-Identifier: Apache-2.0
// Golden GELU: the formula in f64, element by element.
#include "ops/gelu.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const gelu::Args& a, gelu::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.x.shape[1];

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t first = rows[k] * cols;
    Eigen::Map<Eigen::ArrayXd>(g.y.data() + first, cols) =
        load(a.x, first, cols).unaryExpr([&](double x) { return activation(a.form, x); });
  }
}

// Each thread has a row of x.
double scratch(const gelu::Args& a, const Rows& rows) { return scratch_of_rows(rows, static_cast<double>(a.x.shape[1])); }

static const LinkedGolden<gelu> linked_gelu(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::gelu::Args& a, Formula& f) {
  f.out("y", a.form == Activation::gelu_erf ? gelu_erf(f.in("x")) : gelu_tanh(f.in("x")));
}

static const LinkedFormula<assay::gelu> formula_of_gelu("gelu", write);

}  // namespace assay::formula
