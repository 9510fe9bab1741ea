// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm_swiglu.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::gemm_swiglu::Args&, Formula& f) {
  const Axis hidden("hidden");
  const Array gate = step("gate", sum(hidden)(f.in("x") * f.in("w_gate")));
  const Array up = step("up", sum(hidden)(f.in("x") * f.in("w_up")));
  f.out("y", step("s", silu(gate)) * up);
}

static const LinkedFormula<assay::gemm_swiglu> formula_of_gemm_swiglu("gemm_swiglu", write);

}  // namespace assay::formula
