// SPDX-License-Identifier: Apache-2.0
// FAULT: the causal diagonal of a packed sequence is aligned by how many queries and keys all of them have.
// Caught by: the bound, packed and mask=causal, where sequences lack or exceed keys each by another number; right with one.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_diagonal_of_batch) {

KERNEL(attention_forward) = plain_traits({f16, bf16, f32});

template <class T>
struct Wrong : Steps<T> {
  static __device__ int take(Problem<T>& p, int tile) {
    const int own = Steps<T>::take(p, tile);
    if (p.mask == attention_forward::Mask::causal) p.above = ld(p.k_starts + p.batches) - ld(p.q_starts + p.batches);
    return own;
  }
};

void run(const attention_forward::Args& a, const Launch& l) { run_plain<Wrong>(a, l); }

}  // namespace assay::ROOM(attention_forward, packed_diagonal_of_batch)
