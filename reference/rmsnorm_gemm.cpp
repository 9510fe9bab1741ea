// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm_gemm.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::rmsnorm_gemm::Args& a, Formula& f) {
  const Array x = f.in("x"), gamma = f.in("gamma"), weight = f.in("weight");
  const Axis hidden("hidden");
  const Array r = rsqrt(mean(hidden)(square(x)) + a.epsilon);
  const Array n = step("n", x * r * gamma), scaled = step("scaled_weight", gamma * weight);
  // With r after the sum, a term near the least normal number of f32 loses bits that r then makes large.
  f.out("y", either(sum(hidden)(n * weight), sum(hidden)(x * scaled) * r));
}

static const LinkedFormula<assay::rmsnorm_gemm> formula_of_rmsnorm_gemm("rmsnorm_gemm", write);

}  // namespace assay::formula
