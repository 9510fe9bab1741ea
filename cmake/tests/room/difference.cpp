// SPDX-License-Identifier: Apache-2.0
#include "ops/difference.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::difference::Args&, Formula& f) { f.out("y", f.in("a") - f.in("b")); }

static const LinkedFormula<assay::difference> formula_of_difference("difference", write);

}  // namespace assay::formula
