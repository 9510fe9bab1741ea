// SPDX-License-Identifier: Apache-2.0
// FAULT: the keys of the first batch serve all batches. Right for one batch.
// Caught by: probe_digits, exactly, and the bound, for more than one batch.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, first_batch_keys) {

KERNEL(attention_scores){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::seq_q, kPlainQueries), tile(Axis::seq_k, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
struct Wrong : Steps<T> {
  static __device__ const T* channels(const Problem<T>& m, const Query& at, std::int64_t key) {
    return m.k.at(0, key, at.head / m.group);
  }
};

void run(const attention_scores::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_scores, first_batch_keys)
