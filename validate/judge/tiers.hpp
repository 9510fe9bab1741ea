// SPDX-License-Identifier: Apache-2.0
// The tiers beyond the bound: aggregate checks of an output (T2), relations between outputs (T3).  Both write figures into the
// record and return one sentence that says what is wrong; empty if nothing is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "validate/judge/prepare.hpp"
#include "validate/problem/relation.hpp"
#include "validate/records/record.hpp"

namespace assay {

// The outputs of a kernel on a related problem.
struct RelatedRun {
  const Relation* relation;
  SharedMemory outputs;
};

// Aggregate checks of an output.  Every element must be within its bound.  `problem`: the one that judges the outputs.
std::string judge_together(Prepared&, const Problem& problem, const Numerics&, const Tensor& got, int output, Record&);

// Checks the related runs against the case's first run, with which `outputs` begins.
std::string judge_relations(const Prepared&, const Kernel&, const std::byte* outputs, const std::vector<RelatedRun>&, Record&);

}  // namespace assay
