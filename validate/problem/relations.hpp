// SPDX-License-Identifier: Apache-2.0
// The relations of an op: those that its author states (Hooks::relations), and those that a search finds
// (search/relation_search.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// All relations of an op for attributes such as the case's.  What one choice or window allows another may not, so that they are
// found for each choice, for numbers at their default and not, and for small numbers in the place of large ones: in a short row a
// long window would hide nothing.  Throws BadInput if the author states one that is not true of the formula.
std::span<const Relation> all_relations(const Op&, const Case&);

// Names of the relations to try on a case, of those that apply: all, or for Relations::share at most one, in one case of four,
// both chosen by the case's seed.
std::vector<std::string> relations_of(const Op&, const Case&, Relations which);
// One of all_relations(); null: there is none of that name.
const Relation* find_relation(const Op&, const Case&, std::string_view name);

}  // namespace assay
