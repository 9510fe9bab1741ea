// SPDX-License-Identifier: Apache-2.0
// Problems of composite ops (ops/core/stage.hpp).  An end-to-end bound would be too wide to find any fault, since each norm and
// each softmax amplifies errors.  So every stage is judged alone, by the formula of its op: its golden is computed from the
// inputs of that stage as the candidate stored them.  If all stages are within their bounds, the result is right; if not, the
// wrong stage is known.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"

namespace assay {

using StagesOf = std::vector<Stage> (*)(const void* args);

// Makes a problem whose golden and bounds are those of its stages, which solve() solves in order.  A stage reads what the
// candidate stored, if the outputs have data.  If they have none, it reads the goldens of earlier stages, rounded to the storage
// dtype; then solve() solves nothing for a sample of rows, since attention needs keys and values of all rows.
// `whole` holds the arguments.  The stages one after the other in f64, with nothing rounded between them, are end_to_end().
std::unique_ptr<Problem> make_composite(std::unique_ptr<Problem> whole, std::vector<TensorSpec> tensors, StagesOf);

// Returns the problem that judges a candidate's outputs.  For most ops that is `solved`.  For a composite op it is a new problem,
// solved from these outputs for the same rows, which `own` owns.  `images`: those of all tensors, with the candidate's outputs.
const Problem& judged_by(const Op&, const Case&, std::span<const Placement>, std::span<std::byte* const> images,
                         const Problem& solved, std::unique_ptr<Problem>& own, std::span<const Numerics> steps = {});

// The relative error of the first output against end_to_end(), in the Frobenius norm, over finite values; 0 if that is empty.
double end_to_end_error(const Problem& solved, const Tensor& got);

}  // namespace assay
