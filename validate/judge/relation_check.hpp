// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "validate/problem/relate.hpp"

namespace assay {

// Judges a kernel's outputs on a related problem by its outputs on the original one.  Solves the related problem, for its bounds,
// only if some bits may differ.  `steps`: Problem::set_steps() of the related problem.  Returns one sentence that says what is
// wrong; empty if nothing is.
std::string judge_relation(const Op&, const Kernel&, const Relation&, const Case&, const Problem& original, const Packing&,
                           const std::byte* inputs, const std::byte* outputs, const std::byte* related_outputs,
                           std::span<const Numerics> steps = {});

}  // namespace assay
