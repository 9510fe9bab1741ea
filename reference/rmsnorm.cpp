// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::rmsnorm::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Array xhat = step("xhat", x * rsqrt(mean(Axis("cols"))(square(x)) + a.epsilon));
  f.out("y", xhat * f.in("gamma"));
}

static const LinkedFormula<assay::rmsnorm> formula_of_rmsnorm("rmsnorm", write);

}  // namespace assay::formula
