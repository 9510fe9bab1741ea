// SPDX-License-Identifier: Apache-2.0
// wgmma and tensor copies in one pass over the keys (hopper_fused.cuh), whose blocks add dQ to f32 sums in memory in turn, in the
// order of their keys: deterministic, with 5 products where sm90_wgmma has 7.
#include "cuda/attention_backward/hopper_ordered.cuh"

namespace assay::ROOM(attention_backward, sm90_ordered) {

KERNEL(attention_backward) = kOrderedTraits;

void run(const attention_backward::Args& a, const Launch& l) { run_in_turn<OrderedSteps>(a, l); }

}  // namespace assay::ROOM(attention_backward, sm90_ordered)
