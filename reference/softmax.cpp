// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::softmax::Args&, Formula& f) { f.out("y", softmax(Axis("cols"))(f.in("x"))); }

static const LinkedFormula<assay::softmax> formula_of_softmax("softmax", write);

}  // namespace assay::formula
