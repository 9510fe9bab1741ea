// SPDX-License-Identifier: Apache-2.0
// Judges the outputs that a kernel made of a prepared case: by a worker, or elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "validate/judge/prepare.hpp"
#include "validate/problem/relation.hpp"
#include "validate/records/record.hpp"
#include "validate/tasks/given.hpp"

namespace assay {

// The outputs of a kernel on a related problem.
struct RelatedRun {
  const Relation* relation;
  SharedMemory outputs;
};

// The outputs of a kernel: one run, or two over different garbage.  An output that is null is not judged.
struct Runs {
  std::span<const Images> images;
  const std::byte* packed = nullptr;  // those of the first run by the packing's places, for `related`
  std::span<const RelatedRun> related{};
};

// The record of a kernel on a task, with nothing judged yet.
Record blank_record(const Task&, const Kernel&, const std::string& backend, const std::vector<std::string>& not_checked);

// Who looks at a record's outputs besides; null: nobody.
struct Onlookers {
  Declared* declared = nullptr;
  Suggested* suggested = nullptr;
};

// Judges the outputs and writes verdict, reason and figures into the record of a kernel that has passed so far.
void judge_outputs(Prepared&, const Kernel&, const Runs&, const Onlookers&, Record&);

// The problem that judges a run's outputs; see judged_by().
const Problem& problem_judging(const Prepared&, const Images& outputs, std::unique_ptr<Problem>& own);

// Judges the outputs in `given` against the golden of its inputs.  The tensors stay where they are.  The record says in
// not_checked what one run elsewhere cannot show.  Throws BadInput if the contract does not allow the inputs, NoMemory if there
// is no room for their golden.
Record judge_given(const std::shared_ptr<const Given>&, const Kernel&, const Onlookers& = {});

// The golden outputs of given inputs: rounded once to the outputs' dtypes, or in f64.  Throws as judge_given() does.
TensorFile golden_tensors(const Given&, bool unrounded);

// The kernel that stands for whoever made the outputs of a file.  `numerics`: its declaration; empty: the default.
Kernel kernel_elsewhere(const Op&, const std::string& numerics);

}  // namespace assay
