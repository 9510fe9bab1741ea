// SPDX-License-Identifier: Apache-2.0
// FAULT: the butterflies begin at an offset of 8: each half of a warp has a maximum and a sum of its own. Right up to 16 columns.
// Caught by: T1, from 17 columns on.
#include "cuda/softmax/broken/plain.cuh"

namespace assay::ROOM(softmax, half_of_the_warp) {

template <class T>
struct Wrong : Plain<T> {
  static constexpr int kLanes = kWarp, kExtra = 5;
  static __device__ float group_max(float v) {
    for (int offset = kWarp / 4; offset > 0; offset /= 2) v = fmaxf(v, shuffle_xor(v, offset));
    return v;
  }
  static __device__ float group_sum(float v) {
    for (int offset = kWarp / 4; offset > 0; offset /= 2) v += shuffle_xor(v, offset);
    return v;
  }
};
KERNEL_FROM(softmax, plain, Wrong, {f16, f32});

}  // namespace assay::ROOM(softmax, half_of_the_warp)
