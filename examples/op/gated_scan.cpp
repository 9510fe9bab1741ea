// SPDX-License-Identifier: Apache-2.0
#include "gated_scan.hpp"

#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::gated_scan::Args&, Formula& f) {
  const Array gate = f.in("gate"), x = f.in("x");
  const Stepped all = f.scan(Axis("steps"), {f.in("first")}, [&](std::span<const Array> before) -> Stepped {
    const Array h = gate * before[0] + x;
    return {.states = {h}, .outputs = {h}};
  });
  f.out("y", all.outputs[0]);
  f.out("last", all.states[0]);
}

static const LinkedFormula<assay::gated_scan> formula_of_gated_scan("gated_scan", write);

}  // namespace assay::formula
