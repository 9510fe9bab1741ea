// SPDX-License-Identifier: Apache-2.0
#include "ops/row_reduce.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::row_reduce::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Axis cols("cols");
  switch (a.what) {
    case Reduction::sum: return f.out("y", sum(cols)(x));
    case Reduction::max: return f.out("y", max(cols)(x));
    case Reduction::logsumexp: return f.out("y", logsumexp(cols)(x));
    case Reduction::sum_of_squares: return f.out("y", sum(cols)(square(x)));
  }
}

static const LinkedFormula<assay::row_reduce> formula_of_row_reduce("row_reduce", write);

}  // namespace assay::formula
