// SPDX-License-Identifier: Apache-2.0
// FAULT: the dot product is summed in the storage dtype. Right in f32.
// Caught by: the bound in f16 and bf16 on cancelling and large_scores, and on any random case with many channels.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, half_accumulator) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float dot_so_far(float sum) { return to_float(from_float<T>(sum)); }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, half_accumulator)
