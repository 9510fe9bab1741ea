// SPDX-License-Identifier: Apache-2.0
// Judges outputs that were made elsewhere, by the files that hold them, without a worker.
#pragma once

#include <memory>
#include <string>

#include "validate/judge/judge_outputs.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/given.hpp"

namespace assay {

// Judges the outputs in `given` against the golden of its inputs.  The tensors stay where they are.  The record says in
// not_checked what one run elsewhere cannot show.  Throws BadInput if the contract does not allow the inputs, NoMemory if there
// is no room for their golden.
Record judge_given(const std::shared_ptr<const Given>&, const Kernel&, const Onlookers& = {});

// The golden outputs of given inputs: rounded once to the outputs' dtypes, or in f64.  Throws as judge_given() does.
TensorFile golden_tensors(const Given&, bool unrounded);

// The kernel that stands for whoever made the outputs of a file.  `numerics`: its declaration; empty: the default.
Kernel kernel_elsewhere(const Op&, const std::string& numerics);

}  // namespace assay
