// SPDX-License-Identifier: Apache-2.0
// Golden linear + GELU: the product in f64 by Eigen, its magnitudes, and GELU of each element.
#include "ops/gelu_linear.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::reference {

void golden(const gelu_linear::Args& a, gelu_linear::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.x.shape[1], out = a.y.shape[1];
  const auto load_x = [&](std::int64_t row, auto into) { into = load(a.x, row * hidden, hidden).matrix(); };
  for_product_blocks(rows, hidden, out, load_x, [&](std::int64_t k, std::int64_t first, std::int64_t count, const Matrix& x) {
    const Product p(x, a.weight, first, count);
    for (std::int64_t r = 0; r < x.rows(); ++r)
      for (std::int64_t o = 0; o < count; ++o) {
        const std::int64_t i = rows[k + r] * out + first + o;
        g.z[i] = p.value(r, o) + (a.bias.data ? a.bias.at(first + o) : 0);
        g.y[i] = activation(a.form, g.z[i]);
        g.sum_abs[i] = p.sum_abs(r, o);
        g.sum_sq[i] = p.sum_sq(r, o);
      }
  });
}

// Each thread has a block of rows and one product.
double scratch(const gelu_linear::Args& a, const Rows& rows) { return scratch_of_products(rows, a.x.shape[1], a.y.shape[1], 1); }

static const LinkedGolden<gelu_linear> linked_gelu_linear(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::gelu_linear::Args& a, Formula& f) {
  const Array z = step("z", product(f, Axis("hidden"), f.in("x"), "weight", "bias", a.has_bias));
  f.out("y", a.form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z));
}

static const LinkedFormula<assay::gelu_linear> formula_of_gelu_linear("gelu_linear", write);

}  // namespace assay::formula
