// SPDX-License-Identifier: Apache-2.0
// FAULT: hidden keys get a score of -inf, and a query that sees none takes -inf from -inf. Right while every query sees a
// key.
// Caught by: the class of the result on queries that see nothing: more queries than keys, causal.
#include "cuda/attention_scores/broken/plain.cuh"

namespace assay::ROOM(attention_scores, empty_row_is_nan) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ std::int64_t seen(const Problem<T>& m, std::int64_t) { return m.seq_k; }  // the hidden ones take part, too
  static __device__ float score(const Problem<T>& m, float dot, std::int64_t query, std::int64_t key) {
    return key < m.visible(query) ? dot * m.scale : -INFINITY;
  }
  static __device__ float base(float max) { return max; }
};
KERNEL_FROM(attention_scores, plain, Wrong);

}  // namespace assay::ROOM(attention_scores, empty_row_is_nan)
