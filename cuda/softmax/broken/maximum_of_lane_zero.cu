// SPDX-License-Identifier: Apache-2.0
// FAULT: the maximum of a warp by shuffle_down, which is whole in lane 0 only, and not handed back: every lane takes off a
// maximum of its own. Right for one column and for constant rows.
// Caught by: the bound on any random row of more than one column.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, maximum_of_lane_zero) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kLanes = kWarp, kExtra = 5;
  static __device__ float group_max(float v) {
    for (int offset = kWarp / 2; offset > 0; offset /= 2) v = fmaxf(v, shuffle_down(v, offset));
    return v;
  }
  static __device__ float group_sum(float v) { return warp_sum(v); }
};
KERNEL_FROM(softmax, plain, Wrong);

}  // namespace assay::ROOM(softmax, maximum_of_lane_zero)
