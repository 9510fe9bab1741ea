// SPDX-License-Identifier: Apache-2.0
// Golden residual + LayerNorm: s in f64, rounded to the dtype; then LayerNorm of the rounded s, two passes over each row.
#include "ops/residual_layernorm.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const residual_layernorm::Args& a, residual_layernorm::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.x.shape[1];
  const Eigen::ArrayXd gamma = load(a.gamma, 0, cols), beta = load(a.beta, 0, cols);

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t r = rows[k];
    const Eigen::ArrayXd s = (load(a.x, r * cols, cols) + load(a.residual, r * cols, cols)).unaryExpr([&](double v) {
      return round_to(a.s.dtype, v);
    });
    const double mean = s.mean();
    const Eigen::ArrayXd centred = s - mean;
    const double variance = centred.square().mean();

    Eigen::Map<Eigen::ArrayXd>(g.s.data() + r * cols, cols) = s;
    Eigen::Map<Eigen::ArrayXd>(g.y.data() + r * cols, cols) = centred / std::sqrt(variance + a.epsilon) * gamma + beta;
    g.mean[r] = mean;
    g.mean_abs[r] = s.abs().mean();
    g.variance[r] = variance;
  }
}

// Each thread has x, residual and s of a row, beside gamma and beta.
double scratch(const residual_layernorm::Args& a, const Rows& rows) {
  return bytes_of(2 * static_cast<double>(a.x.shape[1])) + scratch_of_rows(rows, 3 * static_cast<double>(a.x.shape[1]));
}

static const LinkedGolden<residual_layernorm> linked_residual_layernorm(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::residual_layernorm::Args& a, Formula& f) {
  const Array s = rounded_to(a.s.dtype, f.in("x") + f.in("residual"));
  const Array centred = s - mean(Axis("cols"))(s);
  const Array xhat = centred * rsqrt(mean(Axis("cols"))(square(centred)) + a.epsilon);
  f.out("y", xhat * f.in("gamma") + f.in("beta"));
  f.out("s", s);
}

static const LinkedFormula<assay::residual_layernorm> formula_of_residual_layernorm("residual_layernorm", write);

}  // namespace assay::formula
