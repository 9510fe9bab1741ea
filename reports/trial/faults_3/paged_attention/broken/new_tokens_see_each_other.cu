// SPDX-License-Identifier: Apache-2.0
// FAULT: every query of a sequence sees all of its positions, also the new ones after it.
// Kind: algorithm
// Shows: seq_q above 1.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, new_tokens_see_each_other) {

template <class T>
struct AllPositions : Plain<T> {
  static __device__ int visible(const Paged<T>& p, int length, int query) {
    return p.visible(length, query) == 0 ? 0 : length;
  }
};
KERNEL_FROM(paged_attention, plain, AllPositions);

}  // namespace assay::ROOM(paged_attention, new_tokens_see_each_other)
