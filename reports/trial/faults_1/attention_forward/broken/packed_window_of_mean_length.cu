// SPDX-License-Identifier: Apache-2.0
// FAULT: packed: the window's first key is computed once, from the mean lengths, and not anew for each sequence.
// Kind: combinations
// Shows: packed sequences with a window, where a sequence has not keys - queries of the mean lengths.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, packed_window_of_mean_length) {

template <class T>
struct Once : Plain<T> {
  static __device__ int take(Problem<T>& p, int tile) {
    const int below = p.below;
    const int taken = Plain<T>::take(p, tile);
    if (p.window != 0) p.below = below;
    return taken;
  }
};

KERNEL_FROM(attention_forward, plain, Once);

}  // namespace assay::ROOM(attention_forward, packed_window_of_mean_length)
