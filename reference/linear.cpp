// SPDX-License-Identifier: Apache-2.0
#include "ops/linear.hpp"

#include "reference/formula/linked_formula.hpp"
#include "reference/formula/products.hpp"

namespace assay::formula {

static void write(const assay::linear::Args& a, Formula& f) {
  f.out("y", product(f, Axis("hidden"), f.in("x"), "weight", "bias", a.has_bias));
}

static const LinkedFormula<assay::linear> formula_of_linear("linear", write);

}  // namespace assay::formula
