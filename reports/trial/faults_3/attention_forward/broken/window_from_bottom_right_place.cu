// SPDX-License-Identifier: Apache-2.0
// FAULT: a window is counted from the bottom-right place of a query, also under the top-left mask.
// Kind: combinations
// Shows: a window with mask=causal_top_left and different numbers of queries and keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, window_from_bottom_right_place) {

template <class T>
struct FromBottomRight : Plain<T> {
  static __device__ Keys seen(const Problem<T>& p, int query) {
    const int end = p.visible(query), first = p.window == 0 ? 0 : query + p.keys - p.queries + 1 - p.window;
    return {first < 0 ? 0 : first < end ? first : end, end};
  }
};
KERNEL_FROM(attention_forward, plain, FromBottomRight);

}  // namespace assay::ROOM(attention_forward, window_from_bottom_right_place)
