// SPDX-License-Identifier: Apache-2.0
// Trial: sm90_ordered without its waits, to show what they cost: bits of dQ change from run to run.
#include "cuda/attention_backward/hopper_ordered.cuh"

namespace assay::ROOM(attention_backward, sm90_ordered_free) {

struct Tried : OrderedSteps {
  static constexpr bool kWaits = false;
};

KERNEL(attention_backward) = [] {
  KernelTraits<attention_backward> traits = kOrderedTraits;
  traits.deterministic = false;
  return traits;
}();

void run(const attention_backward::Args& a, const Launch& l) { run_in_turn<Tried>(a, l); }

}  // namespace assay::ROOM(attention_backward, sm90_ordered_free)
