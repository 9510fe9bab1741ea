// SPDX-License-Identifier: Apache-2.0
// Golden LayerNorm + linear: rows normalised in f64, their product with the weight by Eigen, and its magnitudes.
#include "ops/layernorm_linear.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::reference {

void golden(const layernorm_linear::Args& a, layernorm_linear::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.x.shape[1], out = a.y.shape[1];
  const Eigen::ArrayXd gamma = load(a.gamma, 0, hidden), beta = load(a.beta, 0, hidden);

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t t = rows[k];
    const Eigen::ArrayXd x = load(a.x, t * hidden, hidden);
    g.mean[t] = x.mean();
    g.mean_abs[t] = x.abs().mean();
    g.variance[t] = (x - g.mean[t]).square().mean();
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t o = 0; o < out; ++o) {
    const Eigen::ArrayXd w = load(a.weight, o * hidden, hidden), gained = gamma * w;
    g.gain[o] = std::fabs(gained.sum());
    g.gain_abs[o] = gained.abs().sum();
    g.gain_sq[o] = gained.square().sum();
    g.shift_abs[o] = (beta * w).abs().sum();
    g.weight_abs[o] = ((1 + gamma.abs()) * w.abs()).sum();
  }

  const auto load_x = [&](std::int64_t t, auto into) {
    into = ((load(a.x, t * hidden, hidden) - g.mean[t]) / std::sqrt(g.variance[t] + a.epsilon) * gamma).matrix();
  };
  const auto use = [&](std::int64_t k, std::int64_t first, std::int64_t count, const Matrix& scaled) {
    const Matrix w = load_block(a.weight, first, count);
    const Matrix centred = scaled * w.transpose(), normalised = scaled.rowwise() + beta.matrix().transpose();
    const Matrix magnitude = scaled.cwiseAbs().rowwise() + beta.abs().matrix().transpose();
    const Matrix y = normalised * w.transpose(), sum_abs = magnitude * w.cwiseAbs().transpose();
    const Matrix sum_sq = magnitude.cwiseAbs2() * w.cwiseAbs2().transpose();
    for (std::int64_t r = 0; r < scaled.rows(); ++r)
      for (std::int64_t o = 0; o < count; ++o) {
        const std::int64_t i = rows[k + r] * out + first + o;
        g.y[i] = y(r, o) + (a.bias.data ? a.bias.at(first + o) : 0);
        g.sum_abs[i] = sum_abs(r, o);
        g.sum_sq[i] = sum_sq(r, o);
        g.centred[i] = std::fabs(centred(r, o));
      }
  };
  for_product_blocks(rows, hidden, out, load_x, use);
}

// Each thread has w and its magnitudes, the rows in three forms and the squares of one, and four products.
double scratch(const layernorm_linear::Args& a, const Rows& rows) {
  const double hidden = static_cast<double>(a.x.shape[1]), block = product_rows(rows), out = product_out(a.y.shape[1]);
  return bytes_of(3 * hidden + threads_on_products(rows, a.y.shape[1]) * (hidden * (4 * block + 2 * out) + 4 * block * out));
}

static const LinkedGolden<layernorm_linear> linked_layernorm_linear(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::layernorm_linear::Args& a, Formula& f) {
  const Array x = f.in("x"), gamma = f.in("gamma"), beta = f.in("beta"), weight = f.in("weight");
  const Axis hidden("hidden");
  const Array middle = mean(hidden)(x), centred = x - middle;
  const Array r = rsqrt(mean(hidden)(square(centred)) + a.epsilon);
  const Array n = step("n", centred * r * gamma + beta);

  // With gamma in the weight: x less a pivot, the mean in the dtype, at half its deviation.  What the mean is off by comes last.
  const Stored rounded = Stored::with_rounded_weights;
  const Array pivot = rounded_to(a.y.dtype, middle), half = r * 0.5, scaled = step("scaled_weight", gamma * weight, rounded);
  const Array pivoted = sum(hidden)(step("pivoted", (x - pivot) * half, rounded) * scaled);
  const Array folded = (pivoted - (middle - pivot) * half * sum(hidden)(scaled)) * 2 + sum(hidden)(beta * weight);

  const Array sums = either(sum(hidden)(n * weight), folded, rounded);
  f.out("y", a.has_bias ? step("product", sums, Stored::with_every_step) + f.in("bias") : sums);
}

static const LinkedFormula<assay::layernorm_linear> formula_of_layernorm_linear("layernorm_linear", write);

}  // namespace assay::formula
