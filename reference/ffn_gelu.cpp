// SPDX-License-Identifier: Apache-2.0
#include "ops/ffn_gelu.hpp"

#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::formula {

static void write(const assay::ffn_gelu::Args& a, Formula& f) {
  const Array z = step("z", product(f, Axis("hidden"), f.in("x"), "w1", "b1", a.has_bias));
  const Array h = step("h", a.form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z));
  f.out("y", product(f, Axis("ffn"), h, "w2", "b2", a.has_bias));
}

static const LinkedFormula<assay::ffn_gelu> formula_of_ffn_gelu("ffn_gelu", write);

}  // namespace assay::formula
