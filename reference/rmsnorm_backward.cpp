// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm_backward.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::rmsnorm_backward::Args& a, Formula& f) {
  const Axis rows("rows"), cols("cols");
  const Array x = f.in("x"), dy = f.in("dy");
  const Array r = rsqrt(mean(cols)(square(x)) + a.epsilon);
  const Array xhat = x * r, d = dy * f.in("gamma");
  f.out("dx", r * (d - xhat * mean(cols)(d * xhat)));
  f.out("dgamma", sum(rows)(dy * xhat));
}

static const LinkedFormula<assay::rmsnorm_backward> formula_of_rmsnorm_backward("rmsnorm_backward", write);

}  // namespace assay::formula
