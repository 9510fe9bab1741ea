// SPDX-License-Identifier: Apache-2.0
// The search for relations of an op: candidates are tried on its formula in small cases, and those that hold in all are kept.
#pragma once

#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// The relations of an op for attributes such as the case's, besides those that its author states; none of a composite op.  Throws
// BadInput if one of these is not true of its formula.
std::vector<Relation> search_relations(const Op&, const Case& like);

}  // namespace assay
