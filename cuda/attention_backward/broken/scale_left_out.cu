// SPDX-License-Identifier: Apache-2.0
// FAULT: dQ is the sum of dS K, not multiplied by the scale.
// Caught by: the bound, on any fill with head_dim > 1; dK and dV are right.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, scale_left_out) {

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainRows), tile(Axis::seq_k, kPlainRows), tile(Axis::head_dim, kPlainChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_d,
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float d_query(float sum, float) { return sum; }
};

void run(const attention_backward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_backward, scale_left_out)
