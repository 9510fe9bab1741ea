// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::layernorm::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Array centred = x - mean(Axis("cols"))(x);
  const Array xhat = centred * rsqrt(mean(Axis("cols"))(square(centred)) + a.epsilon);
  f.out("y", xhat * f.in("gamma") + f.in("beta"));
}

static const LinkedFormula<assay::layernorm> formula_of_layernorm("layernorm", write);

}  // namespace assay::formula
