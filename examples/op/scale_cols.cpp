// SPDX-License-Identifier: Apache-2.0
#include "scale_cols.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::scale_cols::Args&, Formula& f) { f.out("y", f.in("x") * f.in("scale")); }

static const LinkedFormula<assay::scale_cols> formula_of_scale_cols("scale_cols", write);

}  // namespace assay::formula
