// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/problem/op.hpp"
#include "validate/records/policy.hpp"

namespace assay {

// The figures of output number `output`, over the solved rows.  `got` as in compare().
PolicyFigures policy_figures(const Problem& problem, int output, const Tensor& got);

}  // namespace assay
