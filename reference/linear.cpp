// SPDX-License-Identifier: Apache-2.0
// Golden linear: the product in f64 by Eigen, and the magnitudes of its terms.
#include "ops/linear.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::reference {

void golden(const linear::Args& a, linear::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.x.shape[1], out = a.y.shape[1];
  const auto load_x = [&](std::int64_t row, auto into) { into = load(a.x, row * hidden, hidden).matrix(); };
  for_product_blocks(rows, hidden, out, load_x, [&](std::int64_t k, std::int64_t first, std::int64_t count, const Matrix& x) {
    const Product p(x, a.weight, first, count);
    for (std::int64_t r = 0; r < x.rows(); ++r)
      for (std::int64_t o = 0; o < count; ++o) {
        const std::int64_t i = rows[k + r] * out + first + o;
        g.y[i] = p.value(r, o) + (a.bias.data ? a.bias.at(first + o) : 0);
        g.sum_abs[i] = p.sum_abs(r, o);
        g.sum_sq[i] = p.sum_sq(r, o);
      }
  });
}

// Each thread has a block of rows and one product.
double scratch(const linear::Args& a, const Rows& rows) { return scratch_of_products(rows, a.x.shape[1], a.y.shape[1], 1); }

static const LinkedGolden<linear> linked_linear(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::linear::Args& a, Formula& f) {
  f.out("y", product(f, Axis("hidden"), f.in("x"), "weight", "bias", a.has_bias, Stored::with_intermediates));
}

static const LinkedFormula<assay::linear> formula_of_linear("linear", write);

}  // namespace assay::formula
