// SPDX-License-Identifier: Apache-2.0
// Golden RMSNorm + linear: rows normalised and scaled in f64, their product with the weight by Eigen, and its magnitudes.
#include "ops/rmsnorm_gemm.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const rmsnorm_gemm::Args& a, rmsnorm_gemm::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.x.shape[1], out = a.y.shape[1];
  const Eigen::ArrayXd gamma = load(a.gamma, 0, hidden);
  const auto root = [&](std::int64_t row) { return std::sqrt(g.square[row] + a.epsilon); };

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const Eigen::ArrayXd x = load(a.x, rows[k] * hidden, hidden);
    g.square[rows[k]] = x.square().mean();
    g.row_abs[rows[k]] = x.abs().sum() / root(rows[k]);
  }
  const Eigen::VectorXd beside = (1 + gamma.abs()).matrix();
  const auto load_x = [&](std::int64_t row, auto into) { into = (load(a.x, row * hidden, hidden) / root(row) * gamma).matrix(); };
  for_product_blocks(rows, hidden, out, load_x, [&](std::int64_t k, std::int64_t first, std::int64_t count, const Matrix& x) {
    Eigen::VectorXd weight_abs = Eigen::VectorXd::Zero(count);
    const Product p(x, a.weight, first, count, [&](std::int64_t column, const Matrix& w_abs) {
      if (k == 0) weight_abs += w_abs * beside.segment(column, w_abs.cols());
    });
    if (k == 0)
      for (std::int64_t o = 0; o < count; ++o) g.weight_abs[first + o] = weight_abs[o];
    for (std::int64_t r = 0; r < x.rows(); ++r)
      for (std::int64_t o = 0; o < count; ++o) {
        const std::int64_t i = rows[k + r] * out + first + o;
        g.y[i] = p.value(r, o);
        g.sum_abs[i] = p.sum_abs(r, o);
        g.sum_sq[i] = p.sum_sq(r, o);
      }
  });
}

// Each thread has a block of rows and one product.
double scratch(const rmsnorm_gemm::Args& a, const Rows& rows) { return scratch_of_products(rows, a.x.shape[1], a.y.shape[1], 1); }

static const LinkedGolden<rmsnorm_gemm> linked_rmsnorm_gemm(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::rmsnorm_gemm::Args& a, Formula& f) {
  const Array x = f.in("x"), gamma = f.in("gamma"), weight = f.in("weight");
  const Axis hidden("hidden");
  const Array r = rsqrt(mean(hidden)(square(x)) + a.epsilon);
  const Array n = step("n", x * r * gamma), scaled = step("scaled_weight", gamma * weight, Stored::with_rounded_weights);
  f.out("y", either(sum(hidden)(n * weight), sum(hidden)(x * scaled) * r, Stored::with_rounded_weights));
}

static const LinkedFormula<assay::rmsnorm_gemm> formula_of_rmsnorm_gemm("rmsnorm_gemm", write);

}  // namespace assay::formula
