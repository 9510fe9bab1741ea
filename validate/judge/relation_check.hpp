// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "validate/problem/relate.hpp"

namespace assay {

// Judges a kernel's outputs on the related problem by those on the original, which is solved where bits need not be equal.
// Returns what is wrong; empty: nothing.
std::string judge_relation(const Op&, const Kernel&, const Relation&, const Case&, const Problem& original, const Packing&,
                           const std::byte* inputs, const std::byte* outputs, const std::byte* related_outputs);

}  // namespace assay
