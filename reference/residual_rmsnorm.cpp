// SPDX-License-Identifier: Apache-2.0
// Golden residual + RMSNorm: the sum in f64, rounded to the dtype as s; then RMSNorm of this s, or of the sum.
#include "ops/residual_rmsnorm.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const residual_rmsnorm::Args& a, residual_rmsnorm::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.x.shape[1];
  const Eigen::ArrayXd gamma = load(a.gamma, 0, cols);

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t r = rows[k];
    const Eigen::ArrayXd sum = load(a.x, r * cols, cols) + load(a.residual, r * cols, cols);
    const Eigen::ArrayXd normed = sum.unaryExpr([&](double v) { return residual_rmsnorm::normed(a, v); });
    const double square = normed.square().mean();

    Eigen::Map<Eigen::ArrayXd>(g.s.data() + r * cols, cols) = sum.unaryExpr([&](double v) { return round_to(a.s.dtype, v); });
    Eigen::Map<Eigen::ArrayXd>(g.y.data() + r * cols, cols) = normed / std::sqrt(square + a.epsilon) * gamma;
    g.square[r] = square;
  }
}

// Each thread has a row's sum and what is normalised, and for a while x or residual, beside gamma.
double scratch(const residual_rmsnorm::Args& a, const Rows& rows) {
  return bytes_of(static_cast<double>(a.x.shape[1])) + scratch_of_rows(rows, 3 * static_cast<double>(a.x.shape[1]));
}

static const LinkedGolden<residual_rmsnorm> linked_residual_rmsnorm(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::residual_rmsnorm::Args& a, Formula& f) {
  const Array total = f.in("x") + f.in("residual"), s = rounded_to(a.s.dtype, total), in_f32 = rounded_to(f32, total);
  const Array x = a.sum == NormedSum::rounded ? s : where(absolute(in_f32) < INFINITY, total, in_f32);
  const Array xhat = step("xhat", x * rsqrt(mean(Axis("cols"))(square(x)) + a.epsilon));
  f.out("y", xhat * f.in("gamma"));
  f.out("s", s);
}

static const LinkedFormula<assay::residual_rmsnorm> formula_of_residual_rmsnorm("residual_rmsnorm", write);

}  // namespace assay::formula
