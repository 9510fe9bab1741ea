// SPDX-License-Identifier: Apache-2.0
// FAULT: where the keys of a packed sequence start is looked up among the starts of the queries.
// Caught by: the bound, where packed sequences have not as many keys as queries; right where they have, as in training.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_starts_of_queries) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int take(Problem<T>& p, int tile) {
    const T *const k = p.k.data, *const v = p.v.data;
    const int own = Plain<T>::take(p, tile);
    if (own < 0) return own;
    const int query = ld(p.q_starts + p.sequence), most = ld(p.k_starts + p.batches) - p.keys, key = query < most ? query : most;
    p.k.data = k + key * p.k.seq;
    p.v.data = v + key * p.v.seq;
    return own;
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, packed_starts_of_queries)
