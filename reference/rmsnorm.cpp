// SPDX-License-Identifier: Apache-2.0
// Golden RMSNorm: the formula in f64.
#include "ops/rmsnorm.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const rmsnorm::Args& a, rmsnorm::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.x.shape[1];
  const Eigen::ArrayXd gamma = load(a.gamma, 0, cols);

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t r = rows[k];
    const Eigen::ArrayXd x = load(a.x, r * cols, cols);
    const double square = x.square().mean();

    Eigen::Map<Eigen::ArrayXd>(g.y.data() + r * cols, cols) = x / std::sqrt(square + a.epsilon) * gamma;
    g.square[r] = square;
  }
}

// Each thread has a row of x, beside gamma.
double scratch(const rmsnorm::Args& a, const Rows& rows) {
  return bytes_of(static_cast<double>(a.x.shape[1])) + scratch_of_rows(rows, static_cast<double>(a.x.shape[1]));
}

static const LinkedGolden<rmsnorm> linked_rmsnorm(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::rmsnorm::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Array xhat = step("xhat", x * rsqrt(mean(Axis("cols"))(square(x)) + a.epsilon));
  f.out("y", xhat * f.in("gamma"));
}

static const LinkedFormula<assay::rmsnorm> formula_of_rmsnorm("rmsnorm", write);

}  // namespace assay::formula
