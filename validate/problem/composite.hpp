// SPDX-License-Identifier: Apache-2.0
// Problems of composite ops (ops/core/stage.hpp).  An end-to-end bound would be too wide to find any fault, since each norm and
// each softmax amplifies errors.  So every stage is judged alone, by the contract of its op: its golden is computed from the
// candidate's own stored inputs to that stage.  If all stages are within their bounds the result is right; else the wrong stage
// is known.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"

namespace assay {

using StagesOf = std::vector<Stage> (*)(const void* args);

// solve() solves the stages in order.  If the problem's outputs have no data, a stage reads the golden of earlier stages, rounded
// to the storage dtype; sampled rows are then not solved, since attention needs keys and values of all rows.  `whole`: the
// composite's own arguments and golden.
std::unique_ptr<Problem> make_composite(std::unique_ptr<Problem> whole, std::vector<TensorSpec> tensors, StagesOf);

// The problem by which a candidate's outputs are judged: `solved`; for a composite op a problem made from these outputs, solved
// for the same rows and owned by `own`.  `images`: of all tensors.
const Problem& judged_by(const Op&, const Case&, std::span<const Placement>, std::span<std::byte* const> images,
                         const Problem& solved, std::unique_ptr<Problem>& own);

// The end-to-end relative error of the first output in the Frobenius norm, over finite values.
double end_to_end_error(const Problem& solved, const Tensor& got);

}  // namespace assay
