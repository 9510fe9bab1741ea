// SPDX-License-Identifier: Apache-2.0
// wgmma and tensor copies in two deterministic passes: dQ of 128 queries (hopper_queries.cuh), dK and dV of 128 keys
// (hopper_keys.cuh).  A kernel before them computes D and L log2(e).
#include "cuda/attention_backward/hopper_passes.cuh"

namespace assay::ROOM(attention_backward, sm90_wgmma) {

KERNEL(attention_backward){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::seq_q, kOwn), tile(Axis::seq_k, kOwn)},
    .numerics = kHopperNumerics,
    .supports = fits_boxes,
    .workspace_bytes = bytes_of_statistics,
};

void run(const attention_backward::Args& a, const Launch& l) {
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) { a.q.shape[3] > 64 ? run_passes<128, T>(a, l) : run_passes<64, T>(a, l); });
}

}  // namespace assay::ROOM(attention_backward, sm90_wgmma)
