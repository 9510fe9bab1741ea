// SPDX-License-Identifier: Apache-2.0
// FAULT: the causal diagonal of a packed sequence is aligned by how many queries and keys all of them have.
// Caught by: the bound, packed and mask=causal, where sequences lack or exceed keys each by another number; right with one.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_diagonal_of_batch) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int take(Problem<T>& p, int tile) {
    const int own = Plain<T>::take(p, tile);
    if (p.mask == attention_forward::Mask::causal) p.above = ld(p.k_starts + p.batches) - ld(p.q_starts + p.batches);
    return own;
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, packed_diagonal_of_batch)
