// SPDX-License-Identifier: Apache-2.0
// FAULT: a packed sequence without keys is taken to have those of the one before.
// Caught by: O and L of queries that have no key, which are 0 and -inf, with fill=one_side_empty; right where all have keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_empty_as_before) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ int take(Problem<T>& p, int tile) {
    const int own = Plain<T>::take(p, tile);
    if (own < 0 || p.keys > 0 || p.sequence == 0) return own;
    const int keys = ld(p.k_starts + p.sequence) - ld(p.k_starts + p.sequence - 1);
    p.k.data -= keys * p.k.seq;
    p.v.data -= keys * p.v.seq;
    p.set_lengths(p.queries, keys);
    return own;
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, packed_empty_as_before)
