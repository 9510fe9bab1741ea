// SPDX-License-Identifier: Apache-2.0
#include "ops/silu_mul.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::silu_mul::Args&, Formula& f) { f.out("y", step("s", silu(f.in("gate"))) * f.in("up")); }

static const LinkedFormula<assay::silu_mul> formula_of_silu_mul("silu_mul", write);

}  // namespace assay::formula
