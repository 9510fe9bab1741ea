// SPDX-License-Identifier: Apache-2.0
// wgmma and tensor copies in one pass over the keys (hopper_fused.cuh), which adds dQ to f32 sums in memory.  The order of the
// additions, and so the last bits of dQ, change from run to run; sm90_wgmma takes two passes and is deterministic.
#include "cuda/attention_backward/hopper_fused_pass.cuh"

namespace assay::ROOM(attention_backward, sm90_fused) {

KERNEL(attention_backward){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .deterministic = false,
    .tiles = {tile(Axis::seq_q, kLoopQueries), tile(Axis::seq_k, kOwn)},
    .numerics = kFusedNumerics,
    .supports = fits_boxes,
    .workspace_bytes =
        [](const attention_backward::Args& a) {
          return a.q.shape[3] > 64 ? bytes_with_fused_sums<128>(a) : bytes_with_fused_sums<64>(a);
        },
};

void run(const attention_backward::Args& a, const Launch& l) {
  with_half_type(a.q.dtype,
                 [&]<class T>(Type<T>) { a.q.shape[3] > 64 ? run_one_pass<128, T>(a, l) : run_one_pass<64, T>(a, l); });
}

}  // namespace assay::ROOM(attention_backward, sm90_fused)
