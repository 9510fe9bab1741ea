// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm_linear.hpp"

#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::formula {

static void write(const assay::layernorm_linear::Args& a, Formula& f) {
  const Array x = f.in("x"), gamma = f.in("gamma"), beta = f.in("beta"), weight = f.in("weight");
  const Axis hidden("hidden");
  const Array middle = mean(hidden)(x), centred = x - middle;
  const Array r = rsqrt(mean(hidden)(square(centred)) + a.epsilon);
  const Array n = step("n", centred * r * gamma + beta);

  // With gamma in the weight: x less a pivot, the mean in the dtype.  It is stored at a power of two near its deviation, from
  // half of that on: half loses most where it is subnormal.  What the mean is off by comes last.
  const Array pivot = rounded_to(a.y.dtype, middle), half = r * 0.5, scaled = step("scaled_weight", gamma * weight);
  const Array pivoted = sum(hidden)(step("pivoted", (x - pivot) * half) * scaled);
  const Array folded = (pivoted - (middle - pivot) * half * sum(hidden)(scaled)) * 2 + sum(hidden)(beta * weight);

  const Array sums = either(sum(hidden)(n * weight), folded, "folded");
  f.out("y", a.has_bias ? step("before_bias", sums) + f.in("bias") : sums);
}

static const LinkedFormula<assay::layernorm_linear> formula_of_layernorm_linear("layernorm_linear", write);

}  // namespace assay::formula
