// SPDX-License-Identifier: Apache-2.0
#include "ops/residual_rmsnorm.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::residual_rmsnorm::Args& a, Formula& f) {
  const Array total = f.in("x") + f.in("residual"), s = rounded_to(a.s.dtype, total), in_f32 = rounded_to(f32, total);
  const Array x = a.sum == NormedSum::rounded ? s : where(absolute(in_f32) < INFINITY, total, in_f32);
  const Array xhat = step("xhat", x * rsqrt(mean(Axis("cols"))(square(x)) + a.epsilon));
  f.out("y", xhat * f.in("gamma"));
  f.out("s", s);
}

static const LinkedFormula<assay::residual_rmsnorm> formula_of_residual_rmsnorm("residual_rmsnorm", write);

}  // namespace assay::formula
