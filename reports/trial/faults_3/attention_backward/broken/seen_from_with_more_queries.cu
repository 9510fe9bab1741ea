// SPDX-License-Identifier: Apache-2.0
// FAULT: where there are more queries than keys, a key is taken to be seen from the query with its own index on.
// Kind: algorithm
// Shows: dK and dV with mask=causal and more queries than keys.
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, seen_from_with_more_queries) {

template <class T>
struct NotNegative : Plain<T> {
  static __device__ int first_query(const Problem<T>& p, int key) {
    const int first = key - (p.above < 0 ? 0 : p.above);
    return first < 0 ? 0 : first < p.queries ? first : p.queries;
  }
};
KERNEL_FROM(attention_backward, plain, NotNegative);

}  // namespace assay::ROOM(attention_backward, seen_from_with_more_queries)
