// SPDX-License-Identifier: Apache-2.0
#include "ops/l2norm.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::l2norm::Args& a, Formula& f) {
  const Array x = f.in("x");
  f.out("y", x * rsqrt(sum(Axis("cols"))(square(x)) + a.epsilon));
}

static const LinkedFormula<assay::l2norm> formula_of_l2norm("l2norm", write);

}  // namespace assay::formula
