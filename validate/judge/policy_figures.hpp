// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/problem/op.hpp"
#include "validate/records/policy.hpp"

namespace assay {

// The figures of output number `output` of a solved problem, over its solved rows.
PolicyFigures policy_figures(const Problem& problem, int output, const Tensor& got);

}  // namespace assay
