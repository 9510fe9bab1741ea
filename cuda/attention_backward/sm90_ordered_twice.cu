// SPDX-License-Identifier: Apache-2.0
// Trial: sm90_ordered, twice as many heads together.
#include "cuda/attention_backward/hopper_ordered.cuh"

namespace assay::ROOM(attention_backward, sm90_ordered_twice) {

struct Tried : OrderedSteps {
  static constexpr double kCacheTaken = 0.5;
};

KERNEL(attention_backward) = kOrderedTraits;

void run(const attention_backward::Args& a, const Launch& l) { run_in_turn<Tried>(a, l); }

}  // namespace assay::ROOM(attention_backward, sm90_ordered_twice)
