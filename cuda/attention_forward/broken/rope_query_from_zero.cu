// SPDX-License-Identifier: Apache-2.0
// FAULT: the position of a query is its number, though it stands at the end of the keys.
// Caught by: the bound, with rope, seq_q != seq_k and no top-left mask; right without rope and where there are as many queries as keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, rope_query_from_zero) {

KERNEL(attention_forward){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::head_dim, kPlainChannels)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 1},
                 .angle_error = kAngleError,
                 .turn_error = kTurnError,
                 .rescales = {.lanes = 1}},
    .supports = extents_fit,
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ float dot(const Problem<T>& p, const T* q, const T* k, int query, int key) {
    return turned_dot(p.rope, p.dim, q, k, query, key);
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, rope_query_from_zero)
