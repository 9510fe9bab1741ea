// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::embedding::Args&, Formula& f) { f.out("y", take(f.in("table"), Axis("vocab"), f.in("ids"))); }

static const LinkedFormula<assay::embedding> formula_of_embedding("embedding", write);

}  // namespace assay::formula
