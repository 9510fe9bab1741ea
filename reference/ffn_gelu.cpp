// SPDX-License-Identifier: Apache-2.0
// Golden feed-forward block: both products in f64 by Eigen, GELU between them, and the sums by which errors of h reach y.
#include "ops/ffn_gelu.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::reference {

namespace {

constexpr std::int64_t kRows = 128, kOut = 128;

// The inputs of the second product for a block of tokens, [tokens, ffn] each.
struct Hidden {
  Matrix h, gain_abs, gain_walk, biased, stored, argument, far;
  Hidden(std::int64_t rows, std::int64_t ffn) {
    for (Matrix* m : {&h, &gain_abs, &gain_walk, &biased, &stored, &argument, &far}) m->resize(rows, ffn);
  }
};

void solve_hidden(const ffn_gelu::Args& a, const Matrix& x, std::int64_t first, std::int64_t count, Hidden& to) {
  const Product p(x, a.w1, first, count);
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t f = first + k;
      const double product = p.value(r, k), z = product + (a.b1.data ? a.b1.at(f) : 0), sum = p.sum_abs(r, k);
      const double tau = ffn_gelu::kNear * (sum + std::fabs(z)), g = ffn_gelu::slope_near(a.form, z, tau);
      to.h(r, f) = activation(a.form, z);
      to.gain_abs(r, f) = g * sum;
      to.gain_walk(r, f) = g * (std::sqrt(p.sum_sq(r, k)) + std::fabs(product));
      to.biased(r, f) = activation_slope(a.form, z) * product;
      to.stored(r, f) = g * std::max(std::fabs(z), std::fabs(product));
      to.far(r, f) = std::fabs(z) + tau;
      const double most = ffn_gelu::kMostArgument * to.far(r, f);
      to.argument(r, f) = std::min(most, (std::fabs(to.h(r, f)) + g * tau) * ffn_gelu::argument_near(a.form, z, tau));
    }
}

}  // namespace

void golden(const ffn_gelu::Args& a, ffn_gelu::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.x.shape[1], ffn = a.w1.shape[0];

#pragma omp parallel for schedule(static)
  for (std::int64_t o = 0; o < hidden; ++o) g.weight_abs[o] = load(a.w2, o * ffn, ffn).abs().sum();

  for (std::int64_t k = 0; k < rows.count(); k += kRows) {
    Matrix x(std::min(kRows, rows.count() - k), hidden);
    for (std::int64_t r = 0; r < x.rows(); ++r) x.row(r) = load(a.x, rows[k + r] * hidden, hidden).matrix();
    Hidden h(x.rows(), ffn);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t first = 0; first < ffn; first += kOut) solve_hidden(a, x, first, std::min(kOut, ffn - first), h);

#pragma omp parallel for schedule(dynamic)
    for (std::int64_t first = 0; first < hidden; first += kOut) {
      const std::int64_t count = std::min(kOut, hidden - first);
      const Matrix w = load_block(a.w2, first, count), abs = w.cwiseAbs(), sq = w.cwiseAbs2();
      const Product y(h.h, w);
      const Matrix product_abs = h.gain_abs * abs.transpose(), product_sq = h.gain_walk.cwiseAbs2() * sq.transpose();
      const Matrix bias = h.biased * w.transpose(), stored_abs = h.stored * abs.transpose();
      const Matrix stored_sq = h.stored.cwiseAbs2() * sq.transpose(), function_abs = h.argument * abs.transpose();
      const Matrix argument_abs = h.far * abs.transpose();
      for (std::int64_t r = 0; r < x.rows(); ++r)
        for (std::int64_t o = 0; o < count; ++o) {
          const std::int64_t i = rows[k + r] * hidden + first + o;
          g.y[i] = y.value(r, o) + (a.b2.data ? a.b2.at(first + o) : 0);
          g.sum_abs[i] = y.sum_abs(r, o);
          g.sum_sq[i] = y.sum_sq(r, o);
          g.product_abs[i] = product_abs(r, o);
          g.product_sq[i] = product_sq(r, o);
          g.product_bias[i] = std::fabs(bias(r, o));
          g.stored_abs[i] = stored_abs(r, o);
          g.stored_sq[i] = stored_sq(r, o);
          g.function_abs[i] = function_abs(r, o);
          g.argument_abs[i] = argument_abs(r, o);
        }
    }
  }
}

// The rows and the seven forms of h; each thread has w in three forms, and for a product the magnitudes of h and of w.
double scratch(const ffn_gelu::Args& a, const Rows& rows) {
  const double hidden = static_cast<double>(a.x.shape[1]), ffn = static_cast<double>(a.w1.shape[0]);
  const double block = static_cast<double>(std::min(kRows, rows.count())),
               out = static_cast<double>(std::min(kOut, a.x.shape[1]));
  const auto threads = static_cast<double>(threads_on((a.x.shape[1] + kOut - 1) / kOut));
  return bytes_of(block * (hidden + 7 * ffn) + threads * ffn * (4 * out + block));
}

static const LinkedGolden<ffn_gelu> linked_ffn_gelu(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::ffn_gelu::Args& a, Formula& f) {
  const Array z = step("z", product(f, Axis("hidden"), f.in("x"), "w1", "b1", a.has_bias));
  const Array h = step("h", a.form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z), Stored::as_factor);
  f.out("y", product(f, Axis("ffn"), h, "w2", "b2", a.has_bias));
}

static const LinkedFormula<assay::ffn_gelu> formula_of_ffn_gelu("ffn_gelu", write);

}  // namespace assay::formula
