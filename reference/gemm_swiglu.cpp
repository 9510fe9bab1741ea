// SPDX-License-Identifier: Apache-2.0
// Golden SwiGLU: both products in f64 by Eigen, their magnitudes, and silu(gate) * up of each element.
#include "ops/gemm_swiglu.hpp"

#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

void golden(const gemm_swiglu::Args& a, gemm_swiglu::Golden& g, const Rows& rows) {
  const std::int64_t hidden = a.x.shape[1], ffn = a.y.shape[1];
  const auto load_x = [&](std::int64_t row, auto into) { into = load(a.x, row * hidden, hidden).matrix(); };
  for_product_blocks(rows, hidden, ffn, load_x, [&](std::int64_t k, std::int64_t first, std::int64_t count, const Matrix& x) {
    const Product gate(x, a.w_gate, first, count), up(x, a.w_up, first, count);
    for (std::int64_t r = 0; r < x.rows(); ++r)
      for (std::int64_t f = 0; f < count; ++f) {
        const std::int64_t i = rows[k + r] * ffn + first + f;
        g.y[i] = activation(Activation::silu, gate.value(r, f)) * up.value(r, f);
        g.gate[i] = gate.value(r, f);
        g.gate_abs[i] = gate.sum_abs(r, f);
        g.gate_sq[i] = gate.sum_sq(r, f);
        g.up[i] = up.value(r, f);
        g.up_abs[i] = up.sum_abs(r, f);
        g.up_sq[i] = up.sum_sq(r, f);
      }
  });
}

// Each thread has a block of rows and two products.
double scratch(const gemm_swiglu::Args& a, const Rows& rows) { return scratch_of_products(rows, a.x.shape[1], a.y.shape[1], 2); }

static const LinkedGolden<gemm_swiglu> linked_gemm_swiglu(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::gemm_swiglu::Args&, Formula& f) {
  const Axis hidden("hidden");
  const Array gate = step("gate", sum(hidden)(f.in("x") * f.in("w_gate")));
  const Array up = step("up", sum(hidden)(f.in("x") * f.in("w_up")));
  f.out("y", step("s", silu(gate), Stored::with_every_step) * up);
}

static const LinkedFormula<assay::gemm_swiglu> formula_of_gemm_swiglu("gemm_swiglu", write);

}  // namespace assay::formula
