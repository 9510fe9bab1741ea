// SPDX-License-Identifier: Apache-2.0
// Hooks of an op from elsewhere (ASSAY_OP_DIRS), whose one file names its relations and the axes that its sums run over:
//   static constexpr std::string_view relations[] = {"rows_permuted", "first_rows"};
//   static constexpr Axis summed[] = {Axis::cols};
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "ops/core/linked.hpp"
#include "validate/base/error.hpp"
#include "validate/ops/relations.hpp"
#include "validate/problem/op.hpp"

namespace assay {

// "AXIS_permuted": its indices change places.  "first_AXIS": half of it is left out.  Throws BadInput for another name.
inline Relation relation_named(std::string_view named, const Hooks& hooks, std::span<const AxisUse> axes) {
  for (const AxisUse& use : axes) {
    const bool summed =
        std::any_of(hooks.summed.begin(), hooks.summed.end(), [&](const Summed& s) { return s.axis == use.axis; });
    if (named == relations::texts_of(use.axis).permuted) return relations::along(use.axis, summed);
    if (named == relations::texts_of(use.axis).first && !summed) return relations::first_along(use.axis);
  }
  throw BadInput("'" + std::string(named) +
                 "' is no relation of this op; AXIS_permuted, or first_AXIS of an axis without sums, was expected");
}

template <class Op>
Hooks hooks_of_own() {
  Hooks hooks;
  if constexpr (requires { Op::summed; })
    for (const Axis axis : Op::summed) hooks.summed.push_back({.axis = axis});
  if constexpr (requires { Op::relations; })
    for (const std::string_view named : Op::relations) hooks.relations.push_back(relation_named(named, hooks, Op::axes));
  return hooks;
}

// Bytes that the golden takes besides its arrays: what the op says in scratch(), none if it says nothing.
template <class Op>
double scratch_of_own(const typename Op::Args& a, const Rows& rows) {
  if constexpr (requires { Op::scratch(a, rows); }) return Op::scratch(a, rows);
  else return 0;
}

// Enters the golden, where it is a function of the contract.
template <class Op>
struct LinkedOwnGolden {
  LinkedOwnGolden() {
    if constexpr (requires { Op::golden; }) LinkedGolden<Op>(Op::golden, scratch_of_own<Op>);
  }
};

}  // namespace assay
