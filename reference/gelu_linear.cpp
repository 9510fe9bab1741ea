// SPDX-License-Identifier: Apache-2.0
#include "ops/gelu_linear.hpp"

#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::formula {

static void write(const assay::gelu_linear::Args& a, Formula& f) {
  const Array z = step("z", product(f, Axis("hidden"), f.in("x"), "weight", "bias", a.has_bias));
  f.out("y", a.form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z));
}

static const LinkedFormula<assay::gelu_linear> formula_of_gelu_linear("gelu_linear", write);

}  // namespace assay::formula
