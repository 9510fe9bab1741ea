// SPDX-License-Identifier: Apache-2.0
#include "ops/add.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::add::Args&, Formula& f) { f.out("y", f.in("a") + f.in("b")); }

static const LinkedFormula<assay::add> formula_of_add("add", write);

}  // namespace assay::formula
