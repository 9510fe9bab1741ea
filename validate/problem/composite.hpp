// SPDX-License-Identifier: Apache-2.0
// Problems of ops that are made of others (Stage).  The error of such an op, carried from step to step, would be bounded by
// something that no fault exceeds: each norm and each softmax multiplies it.  So every stage is judged by itself, by the contract
// of its op: its golden is computed from what the candidate itself has stored before it, and the bound is that op's.  All stages
// within their bounds make the whole right, and one that is not names itself.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"

namespace assay {

using StagesOf = std::vector<Stage> (*)(const void* args);

// solve() takes the stages in turn.  Where the problem's outputs have no data, what a stage reads of them is the golden of the
// stage before, rounded to the dtype that it is stored in; of sampled rows nothing is solved then, for keys and values of all
// would be needed.  `whole` holds the arguments, and the formula from end to end.
std::unique_ptr<Problem> make_composite(std::unique_ptr<Problem> whole, std::vector<TensorSpec> tensors, StagesOf);

// What the outputs of a candidate are judged by: `solved`, but of an op with stages a problem of those outputs, solved for the
// same rows, that `own` keeps.  Images are of all tensors.
const Problem& judged_by(const Op&, const Case&, std::span<const Placement>, std::span<std::byte* const> images,
                         const Problem& solved, std::unique_ptr<Problem>& own);

// The relative error of the first output of `solved` in the Frobenius norm, from the inputs on; of values that are finite.
double end_to_end_error(const Problem& solved, const Tensor& got);

}  // namespace assay
