// SPDX-License-Identifier: Apache-2.0
#include "scale_blocks.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::scale_blocks::Args&, Formula& f) {
  const Axis channels("channels"), blocks("channels/128");
  f.out("y", f.in("x") * take(f.in("scale"), blocks, quotient(f.index(channels), assay::scale_blocks::kBlock)));
}

static const LinkedFormula<assay::scale_blocks> formula_of_scale_blocks("scale_blocks", write);

}  // namespace assay::formula
