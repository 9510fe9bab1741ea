// SPDX-License-Identifier: Apache-2.0
#include "ops/residual_layernorm.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::residual_layernorm::Args& a, Formula& f) {
  const Array s = rounded_to(a.s.dtype, f.in("x") + f.in("residual"));
  const Array centred = s - mean(Axis("cols"))(s);
  const Array xhat = centred * rsqrt(mean(Axis("cols"))(square(centred)) + a.epsilon);
  f.out("y", xhat * f.in("gamma") + f.in("beta"));
  f.out("s", s);
}

static const LinkedFormula<assay::residual_layernorm> formula_of_residual_layernorm("residual_layernorm", write);

}  // namespace assay::formula
