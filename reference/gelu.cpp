// SPDX-License-Identifier: Apache-2.0
#include "ops/gelu.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::gelu::Args& a, Formula& f) {
  f.out("y", a.form == Activation::gelu_erf ? gelu_erf(f.in("x")) : gelu_tanh(f.in("x")));
}

static const LinkedFormula<assay::gelu> formula_of_gelu("gelu", write);

}  // namespace assay::formula
