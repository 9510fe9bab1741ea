// SPDX-License-Identifier: Apache-2.0
// FAULT: key < query where it should be key <= query: the key on the diagonal is not seen. Right without a mask.
// Caught by: the bound in any case with a causal mask: P on the diagonal is 0.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, diagonal_hidden) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t query) {
    return m.above == m.seq_k ? m.seq_k : m.visible(query - 1);
  }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, diagonal_hidden)
