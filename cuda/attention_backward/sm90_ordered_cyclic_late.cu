// SPDX-License-Identifier: Apache-2.0
// Trial: sm90_ordered_cyclic, a turn is passed before the next sums are stored.
#include "cuda/attention_backward/hopper_ordered.cuh"

namespace assay::ROOM(attention_backward, sm90_ordered_cyclic_late) {

struct Tried : CyclicSteps {
  static constexpr bool kPassesLate = true;
};

KERNEL(attention_backward) = kOrderedTraits;

void run(const attention_backward::Args& a, const Launch& l) { run_in_turn<Tried>(a, l); }

}  // namespace assay::ROOM(attention_backward, sm90_ordered_cyclic_late)
