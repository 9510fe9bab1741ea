// SPDX-License-Identifier: Apache-2.0
// FAULT: a window of w takes w + 1 keys, as `place - key <= w` would.
// Caught by: the bound, on any fill with a window shorter than what a query sees; right without one.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, window_off_by_one) {

template <class T>
struct Wrong : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int first = p.first_visible(query);
    return {first > 0 ? first - 1 : 0, p.visible(query)};
  }
};
KERNEL_FROM(attention_forward, plain, Wrong);

}  // namespace assay::ROOM(attention_forward, window_off_by_one)
