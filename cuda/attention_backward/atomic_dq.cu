// SPDX-License-Identifier: Apache-2.0
// One pass over the pairs, split by keys: D first, dQ cleared; a warp per 32 keys and 64 channels sums dK and dV in registers and
// adds its part of dQ to f32 sums in memory with atomics; a last kernel scales and rounds dQ.  Any head_dim, any layout.  The
// order of the additions, and so the last bits of dQ, change from run to run.
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, atomic_dq) {

KERNEL(attention_backward) = kAtomicTraits;

void run(const attention_backward::Args& a, const Launch& l) { run_atomic<AtomicSteps>(a, l); }

}  // namespace assay::ROOM(attention_backward, atomic_dq)
