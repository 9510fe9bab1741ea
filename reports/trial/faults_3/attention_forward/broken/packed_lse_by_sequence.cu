// SPDX-License-Identifier: Apache-2.0
// FAULT: L of packed sequences is written at the index of the sequence and of the query in it.
// Kind: combinations
// Shows: packed sequences of different lengths.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_lse_by_sequence) {

template <class T>
struct BySequence : Plain<T> {
  static __device__ float* lse_of(const Problem<T>& p, int batch, int head, int query) {
    return p.lse.of(p.q_starts ? p.sequence : batch, head) + query * p.lse.seq;
  }
};
KERNEL_FROM(attention_forward, plain, BySequence);

}  // namespace assay::ROOM(attention_forward, packed_lse_by_sequence)
