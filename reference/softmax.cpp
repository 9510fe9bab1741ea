// SPDX-License-Identifier: Apache-2.0
// Golden softmax: the formula in f64.
#include "ops/softmax.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const softmax::Args& a, softmax::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.x.shape[1];

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t r = rows[k];
    const Eigen::ArrayXd x = load(a.x, r * cols, cols);
    const double max = x.maxCoeff<Eigen::PropagateNaN>();
    const Eigen::ArrayXd d = x - max;
    // Note: std::exp, since Eigen's returns 5e-309 where exp underflows to 0.
    const Eigen::ArrayXd e = d.unaryExpr([](double v) { return std::exp(v); });

    Eigen::Map<Eigen::ArrayXd> y(g.y.data() + r * cols, cols);
    y = e / e.sum();
    g.max[r] = max;
    // Note: select avoids 0 * inf where x is -inf.
    g.spread[r] = (y > 0).select(-y * d, 0.0).sum();
  }
}

// Each thread has x, d and e of a row.
double scratch(const softmax::Args& a, const Rows& rows) { return scratch_of_rows(rows, 3 * static_cast<double>(a.x.shape[1])); }

static const LinkedGolden<softmax> linked_softmax(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::softmax::Args&, Formula& f) { f.out("y", softmax(Axis("cols"))(f.in("x"))); }

static const LinkedFormula<assay::softmax> formula_of_softmax("softmax", write);

}  // namespace assay::formula
