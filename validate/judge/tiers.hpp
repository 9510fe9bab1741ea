// SPDX-License-Identifier: Apache-2.0
// The tiers beyond the bound: aggregates over an output (T2), relations between outputs (T3).  Both write what they found into
// the record and return what is wrong, as a sentence; empty: nothing.
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

// The errors of the first output together; each alone is within its bound.  `problem`: what the outputs are judged by.
std::string judge_together(Prepared&, const Problem& problem, const Numerics&, const Tensor& got, Record&);

// What the worker ran beside the case itself.  `outputs` begins with the case's.
std::string judge_relations(const Prepared&, const Kernel&, const std::byte* outputs, const std::vector<RelatedRun>&, Record&);

}  // namespace assay
