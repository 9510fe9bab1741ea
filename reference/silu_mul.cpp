// SPDX-License-Identifier: Apache-2.0
// Golden gated product: silu(gate) * up in f64, element by element.
#include "ops/silu_mul.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const silu_mul::Args& a, silu_mul::Golden& g, const Rows& rows) {
  const std::int64_t cols = a.y.shape[1];

#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < rows.count(); ++k) {
    const std::int64_t first = rows[k] * cols;
    const auto silu = [](double z) { return activation(Activation::silu, z); };
    Eigen::Map<Eigen::ArrayXd>(g.y.data() + first, cols) = load(a.gate, first, cols).unaryExpr(silu) * load(a.up, first, cols);
  }
}

// Each thread has a row of gate and one of up.
double scratch(const silu_mul::Args& a, const Rows& rows) { return scratch_of_rows(rows, 2 * static_cast<double>(a.y.shape[1])); }

static const LinkedGolden<silu_mul> linked_silu_mul(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::silu_mul::Args&, Formula& f) { f.out("y", step("s", silu(f.in("gate"))) * f.in("up")); }

static const LinkedFormula<assay::silu_mul> formula_of_silu_mul("silu_mul", write);

}  // namespace assay::formula
