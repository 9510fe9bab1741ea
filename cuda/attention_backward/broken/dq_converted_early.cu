// SPDX-License-Identifier: Apache-2.0
// FAULT: whichever block of keys comes last in the grid rounds dQ as soon as it is done, whether the others are or not.
// Caught by: the bound or two runs that differ, with more than 32 keys or 64 channels; right with one block.
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, dq_converted_early) {

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .deterministic = false,
    .tiles = {tile(Axis::seq_k, kAtomicKeys), tile(Axis::head_dim, kAtomicChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_with_sums,
};

template <class T>
struct Wrong : Ending<T> {
  static __device__ void done(const Problem<T>& p, const float* sums) {
    if (blockIdx.x + 1 < gridDim.x) return;
    const std::int64_t size = static_cast<std::int64_t>(p.batches) * p.queries * p.heads * p.dim;
    sync_warp();
    for (std::int64_t i = lane_id(); i < size; i += kWarp) convert_element(p, sums, i);
  }
};

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    run_clear(a, l);
    run_key_warps<T, Wrong<T>>(a, p, l);
    if (p.keys == 0) run_convert(a, p, l);
  });
}

}  // namespace assay::ROOM(attention_backward, dq_converted_early)
