// SPDX-License-Identifier: Apache-2.0
// FAULT: query head h reads key head h % kv_heads: grouped heads taken for interleaved ones. Right with one key head, and
// with one for each query head.
// Caught by: probe_digits, exactly, and the bound, with several key heads and groups larger than one.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, heads_interleaved) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ const T* channels(const Problem<T>& m, const Query& at, std::int64_t key) {
    return m.k.at(at.batch, key, at.head % (m.heads / m.group));
  }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, heads_interleaved)
