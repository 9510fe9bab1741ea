// SPDX-License-Identifier: Apache-2.0
// FAULT: the sums that blocks add their parts of dQ to are not cleared, and begin with what the workspace holds.
// Caught by: the bound, wherever there is a query, for the workspace is garbage; right where it happens to be zeros.
#include "cuda/attention_backward/atomic_dq.cuh"

namespace assay::ROOM(attention_backward, dq_not_cleared) {

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
    run_key_warps(a, p, l);
    run_convert(a, p, l);
  });
}

}  // namespace assay::ROOM(attention_backward, dq_not_cleared)
