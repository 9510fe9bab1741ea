// SPDX-License-Identifier: Apache-2.0
// FAULT: the loop runs up to and including the first hidden key, as `k <= visible` would.
// Caught by: the bound, on any fill with a causal mask, plainly on the first rows; right without a mask.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, causal_off_by_one) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int end = p.visible(query);
    return {p.first_visible(query), end < p.keys ? end + 1 : end};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, causal_off_by_one)
