// SPDX-License-Identifier: Apache-2.0
// Golden LayerNorm + residual: the formula in f64, two passes over each row.
#include "ops/layernorm_residual.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const layernorm_residual::Args& a, layernorm_residual::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.x.shape[1];
  const Eigen::ArrayXd gamma = load(a.gamma, 0, cols), beta = load(a.beta, 0, cols);

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t r = rows[k];
    const Eigen::ArrayXd x = load(a.x, r * cols, cols);
    const double mean = x.mean();
    const Eigen::ArrayXd centred = x - mean;
    const double variance = centred.square().mean();

    Eigen::Map<Eigen::ArrayXd> y(g.y.data() + r * cols, cols);
    y = centred / std::sqrt(variance + a.epsilon) * gamma + beta + load(a.residual, r * cols, cols);
    g.mean[r] = mean;
    g.mean_abs[r] = x.abs().mean();
    g.variance[r] = variance;
  }
}

// Each thread has x, centred and residual of a row, beside gamma and beta.
double scratch(const layernorm_residual::Args& a, const Rows& rows) {
  return bytes_of(2 * static_cast<double>(a.x.shape[1])) + scratch_of_rows(rows, 3 * static_cast<double>(a.x.shape[1]));
}

static const LinkedGolden<layernorm_residual> linked_layernorm_residual(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::layernorm_residual::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Array centred = x - mean(Axis("cols"))(x);
  const Array xhat = centred * rsqrt(mean(Axis("cols"))(square(centred)) + a.epsilon);
  f.out("y", step("normalised", xhat * f.in("gamma") + f.in("beta")) + f.in("residual"));
}

static const LinkedFormula<assay::layernorm_residual> formula_of_layernorm_residual("layernorm_residual", write);

}  // namespace assay::formula
