// SPDX-License-Identifier: Apache-2.0
// FAULT: whichever block of keys comes last in the grid rounds dQ as soon as it is done, whether the others are or not.
// Caught by: the bound or two runs that differ, with more than 32 keys or 64 channels; right with one block.
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, dq_converted_early) {

KERNEL(attention_backward) = kAtomicTraits;

template <class T>
struct Wrong : AtomicSteps<T> {
  static __device__ void done(const Problem<T>& p, const float* sums) {
    if (blockIdx.x + 1 < gridDim.x) return;
    const std::int64_t size = static_cast<std::int64_t>(p.batches) * p.queries * p.heads * p.dim;
    sync_warp();
    for (std::int64_t i = lane_id(); i < size; i += kWarp) convert_element(p, sums, i);
  }
  static void convert(const attention_backward::Args& a, const Problem<T>& p, const Launch& l) {
    if (p.keys == 0) run_convert(a, p, l);
  }
};

void run(const attention_backward::Args& a, const Launch& l) { run_atomic<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_backward, dq_converted_early)
