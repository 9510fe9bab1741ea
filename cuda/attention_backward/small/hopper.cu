// SPDX-License-Identifier: Apache-2.0
// sm90_wgmma of heads of up to 64 channels.
#include "cuda/attention_backward/hopper_passes.cuh"

namespace assay::ROOM(attention_backward, hopper) {

KERNEL(attention_backward){
    .dtypes = {f16},
    .only_arch = 90,
    .tiles = {tile(Axis::seq_q, kOwn), tile(Axis::seq_k, kOwn)},
    .numerics = kHopperNumerics,
    .supports =
        [](const attention_backward::Args& a) { return a.q.shape[3] > 64 ? Legality::no("head_dim exceeds 64") : fits_boxes(a); },
    .workspace_bytes = bytes_of_statistics,
};

void run(const attention_backward::Args& a, const Launch& l) { run_passes<64, half>(a, l); }

}  // namespace assay::ROOM(attention_backward, hopper)
