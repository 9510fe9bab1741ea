// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm_residual.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::layernorm_residual::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Array centred = x - mean(Axis("cols"))(x);
  const Array xhat = centred * rsqrt(mean(Axis("cols"))(square(centred)) + a.epsilon);
  f.out("y", step("normalised", xhat * f.in("gamma") + f.in("beta")) + f.in("residual"));
}

static const LinkedFormula<assay::layernorm_residual> formula_of_layernorm_residual("layernorm_residual", write);

}  // namespace assay::formula
