// SPDX-License-Identifier: Apache-2.0
// One pass over the pairs, by keys: D first, dQ cleared; a warp for each 32 keys and 64 channels, which sums dK and dV in
// registers and adds its part of dQ to f32 sums in memory, atomically; at last dQ is scaled and rounded.  Any head_dim, any
// layout.  The order of the additions, and so the last bits of dQ, change from run to run.
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, atomic_dq) {

// Note: dK and dV are serial sums over all queries; dQ's are shorter, 32 terms and then one for each 32 keys.
KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .deterministic = false,
    .tiles = {tile(Axis::seq_k, kAtomicKeys), tile(Axis::head_dim, kAtomicChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_with_sums,
};

void run(const attention_backward::Args& a, const Launch& l) {
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    run_clear(a, l);
    run_key_warps(a, p, l);
    run_convert(a, p, l);
  });
}

}  // namespace assay::ROOM(attention_backward, atomic_dq)
