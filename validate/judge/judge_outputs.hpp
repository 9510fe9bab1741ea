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

namespace assay {

// The outputs of a kernel on a related problem.
struct RelatedRun {
  const Relation* relation;
  SharedMemory outputs;
  std::vector<Numerics> steps{};  // as in Reply
};

// The outputs of a kernel: one run, or two over different garbage.  An output that is null is not judged.
struct Runs {
  std::span<const Images> images;
  const std::byte* packed = nullptr;  // those of the first run by the packing's places, for `related`
  std::span<const RelatedRun> related{};
  std::span<const Numerics> steps{};  // as in Reply
};

// The record of a kernel on a task, with nothing judged yet.
Record blank_record(const Task&, const Kernel&, const std::string& backend, const std::vector<std::string>& not_checked);

// Who looks at a record's outputs besides; null: nobody.
struct Onlookers {
  Declared* declared = nullptr;
  Suggested* suggested = nullptr;
};

// Takes in what a check found, a sentence; empty: nothing.  The first finding gives the record its verdict and its reason, each
// its tier.
void report(Tier, std::string finding, Record&, Verdict = Verdict::failed);

// Judges the outputs and writes verdict, reason and figures into the record of a kernel that has passed so far.
void judge_outputs(Prepared&, const Kernel&, const Runs&, const Onlookers&, Record&);

// The problem that judges a run's outputs; see judged_by().
const Problem& problem_judging(const Prepared&, const Images& outputs, std::unique_ptr<Problem>& own,
                               std::span<const Numerics> steps);

}  // namespace assay
