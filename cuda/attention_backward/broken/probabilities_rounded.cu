// SPDX-License-Identifier: Apache-2.0
// FAULT: P is rounded to the storage dtype before it meets dO, and the kernel does not say so.
// Caught by: the bound in f16 and bf16, on any fill with few pairs or hot keys; right in f32.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, probabilities_rounded) {

KERNEL(attention_backward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainRows), tile(Axis::seq_k, kPlainRows), tile(Axis::head_dim, kPlainChannels)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = extents_fit,
    .workspace_bytes = bytes_of_d,
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float weight_of_d_o(float weight) { return to_float(from_float<T>(weight)); }
};

void run(const attention_backward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_backward, probabilities_rounded)
