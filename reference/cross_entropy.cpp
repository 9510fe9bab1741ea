// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::cross_entropy::Args&, Formula& f) {
  const Axis vocab("vocab");
  const Array loss = -take(log_softmax(vocab)(f.in("x")), vocab, f.in("target"));
  f.out("loss", loss);
  f.out("mean", mean(Axis("tokens"))(loss));
}

static const LinkedFormula<assay::cross_entropy> formula_of_cross_entropy("cross_entropy", write);

}  // namespace assay::formula
