// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum starts at the lowest finite f32 instead of -inf.
// Kind: ranges
// Shows: rows without columns or of nothing but -inf, with what=max.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, maximum_starts_at_lowest) {

template <class T>
struct Lowest : Plain<T> {
  struct Max : fold::Max {
    __device__ Max(float v = -3.402823466e38f) : fold::Max{v} {}
    __device__ Max of_lane(int delta) const { return {shuffle_down(value, delta)}; }
  };
};
KERNEL_FROM(row_reduce, plain, Lowest);

}  // namespace assay::ROOM(row_reduce, maximum_starts_at_lowest)
