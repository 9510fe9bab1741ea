// SPDX-License-Identifier: Apache-2.0
// Which relations hold of an op.  Candidates are tried on the op's golden in a few small cases: each axis permuted, and cut; up
// to three inputs doubled; a constant added to one; two inputs exchanged.  Those that it keeps are the op's, besides those that
// its author states (Hooks::relations).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// All relations of an op for attributes such as the case's.  What one choice or window allows another may not, so that they are
// found for each choice, for numbers at their default and not, and for small numbers in the place of large ones: in a short row a
// long window would hide nothing.  Throws BadInput if the author states one that the golden does not keep.
std::span<const Relation> all_relations(const Op&, const Case&);

// Names of the relations to try on a case, of those that apply: all, or for Relations::share at most one, in one case of four,
// both chosen by the case's seed.
std::vector<std::string> relations_of(const Op&, const Case&, Relations which);
// One of all_relations(); null: there is none of that name.
const Relation* find_relation(const Op&, const Case&, std::string_view name);

}  // namespace assay
