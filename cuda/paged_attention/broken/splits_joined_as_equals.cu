// SPDX-License-Identifier: Apache-2.0
// FAULT: two splits of the positions are added up as they are, each with weights relative to its own maximum.
// Caught by: the bound on any fill, most of all on hot_keys; right where both have the same maximum, and for one position.
#include "cuda/paged_attention/broken/plain.cuh"

namespace assay::ROOM(paged_attention, splits_joined_as_equals) {

template <class T>
struct Wrong : Plain<T> {
  template <class Take>
  static __device__ bool attend(int end, Part& part, Take&& take) {
    const int middle = (end + 1) / 2;
    Part second;
    take(0, middle, part);
    take(middle, end, second);
    part.max = fmaxf(part.max, second.max);
    part.sum += second.sum;
#pragma unroll
    for (int c = 0; c < kPlainChannels; ++c) part.o[c] += second.o[c];
    return true;
  }
};
KERNEL_FROM(paged_attention, plain, Wrong);

}  // namespace assay::ROOM(paged_attention, splits_joined_as_equals)
