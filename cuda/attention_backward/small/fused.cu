// SPDX-License-Identifier: Apache-2.0
// sm90_fused of heads of up to 64 channels.
#include "cuda/attention_backward/hopper_fused_pass.cuh"

namespace assay::ROOM(attention_backward, fused) {

KERNEL(attention_backward){
    .dtypes = {f16},
    .only_arch = 90,
    .deterministic = false,
    .tiles = {tile(Axis::seq_q, kLoopQueries), tile(Axis::seq_k, kOwn)},
    .numerics = kFusedNumerics,
    .supports =
        [](const attention_backward::Args& a) { return a.q.shape[3] > 64 ? Legality::no("head_dim exceeds 64") : fits_boxes(a); },
    .workspace_bytes = bytes_with_fused_sums<64>,
};

void run(const attention_backward::Args& a, const Launch& l) { run_one_pass<64, half>(a, l); }

}  // namespace assay::ROOM(attention_backward, fused)
